"""Prepares functions for Numba, and shortens the messages of its compiler."""

from __future__ import annotations

import dis
import os
import re
import types
from collections.abc import Callable, Iterator
from typing import Any


def checked(numba: Any, function: Callable[..., Any]) -> Any:
    """Returns the function compiled by Numba so that an index outside an array raises IndexError.

    The same holds for compiled functions that it calls by a global name or as a variable of an outer function, unless
    their author has set `boundscheck` or `parallel`. Other options of functions that are already compiled are kept.
    """
    return _checked(numba, function, {})


def _checked(numba: Any, function: Any, done: dict[int, Any]) -> Any:
    plain = getattr(function, "py_func", function)
    if id(plain) in done:
        return done[id(plain)]
    options = dict(getattr(function, "targetoptions", {"error_model": "numpy"}))
    if options.get("boundscheck") is not None or options.get("parallel"):
        return function
    scope = dict(plain.__globals__)
    cells = tuple(types.CellType(*_contents(cell)) for cell in plain.__closure__ or ())
    copy = types.FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__, cells)
    copy.__kwdefaults__, copy.__module__, copy.__qualname__ = plain.__kwdefaults__, plain.__module__, plain.__qualname__
    result = numba.jit(**options | {"nopython": True, "boundscheck": True})(copy)
    done[id(plain)] = result
    for name in plain.__code__.co_names:
        if _is_compiled(scope.get(name)):
            scope[name] = _checked(numba, scope[name], done)
    for cell in cells:
        for value in _contents(cell):
            if _is_compiled(value):
                cell.cell_contents = _checked(numba, value, done)
    return result


def can_raise(function: Callable[..., Any]) -> bool:
    """Returns whether the function, or a compiled function that it calls, has a raise or an assert statement."""
    return any(
        instruction.opname == "RAISE_VARARGS" for plain in _with_called(function, {}) for instruction in dis.get_instructions(plain)
    )


def _with_called(function: Any, done: dict[int, Any]) -> Iterator[Any]:
    plain = getattr(function, "py_func", function)
    if id(plain) in done:
        return
    done[id(plain)] = plain
    yield plain
    values = [plain.__globals__.get(name) for name in plain.__code__.co_names]
    values += [value for cell in plain.__closure__ or () for value in _contents(cell)]
    for value in values:
        if _is_compiled(value):
            yield from _with_called(value, done)


def _is_compiled(value: Any) -> bool:
    return hasattr(value, "targetoptions") and isinstance(getattr(value, "py_func", None), types.FunctionType)


def _contents(cell: Any) -> tuple[Any, ...]:
    """Returns a tuple with the value of a variable of an outer function; empty: it has no value yet."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def reason_of(error: BaseException) -> str:
    """Returns the parts of an error of Numba's compiler that state the reason and the line, as one line."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()  # without the colours of a terminal
    told = [line.strip() for line in lines if line.strip() and not line.startswith("Failed in ")]
    if not told:
        return type(error).__name__
    reason = told[0]
    if reason.endswith(":") and len(told) > 1:
        reason += " " + told[1].removeprefix(">>> ")
    if not type(error).__module__.startswith("numba"):
        reason = f"{type(error).__name__}: {reason}"
    return reason + _place(lines)


def _place(lines: list[str]) -> str:
    """Returns the file, the line and its text, as " (model.py, line 3: return x + y)"; "" if they are not there."""
    for at, line in enumerate(lines):
        if found := re.match(r'\s*File "([^"]+)", line (\d+)', line):
            carets = [i for i in range(at + 1, len(lines)) if lines[i].strip() == "^"]
            text = f": {lines[carets[0] - 1].strip()}" if carets else ""
            return f" ({os.path.basename(found[1])}, line {found[2]}{text})"
    return ""

"""Log densities that are Python functions, compiled by Numba."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._emomc import InputError


@dataclass(frozen=True)
class RowFunction:
    """A function that the library calls for many rows."""

    address: int
    by: str  #: who has compiled it
    text: str  #: another one where the function is another
    columns: list[str]  #: of the data, which it takes
    kept: Any  #: what has to live as long as the address


def compile_rows(
    function: Callable[..., float], columns: Sequence[str], parameters: Mapping[str, int]
) -> RowFunction:
    """Compiles a function of columns and parameters, which its arguments name, to one of many rows.

    `parameters` are lengths by name, 0 of a number. A column is a float, a parameter a float or an array of float64.
    Raises ImportError without Numba; InputError where an argument is neither, or Numba cannot compile the function.
    """
    try:
        import numba
    except ImportError as error:
        raise ImportError(
            "log_density is a Python function, which Numba has to compile, and there is no Numba here: pip install "
            "numba, or write the density as an expression"
        ) from error
    plain = getattr(function, "py_func", function)
    places: dict[str, str] = {}
    at = 0
    for name, length in parameters.items():
        places[name] = f"theta[{at}:{at + length}]" if length else f"theta[{at}]"
        at += max(length, 1)
    used: list[str] = []
    arguments: list[str] = []
    for name, argument in inspect.signature(plain).parameters.items():
        if argument.kind not in (argument.POSITIONAL_ONLY, argument.POSITIONAL_OR_KEYWORD):
            raise InputError(f"log_density: the argument {name} has no place of its own; allowed: columns and parameters")
        if name in places:
            arguments.append(places[name])
        elif name in columns:
            arguments.append(f"rows[{len(used)} * stride + i]")
            used.append(name)
        else:
            allowed = ", ".join([*columns, *places])
            raise InputError(f"log_density: the argument {name} is no column and no parameter; allowed: {allowed}")
    if not used:
        raise InputError("log_density: no argument is a column; it is the log density of one row of the data")
    if not set(places) & set(inspect.signature(plain).parameters):
        raise InputError("log_density: no argument is a parameter, so that there is nothing to sample")
    assert all(not keyword.iskeyword(name) for name in used)
    jitted = function if plain is not function else numba.njit(error_model="numpy")(function)
    source = (
        "def rows_of(theta_, rows_, stride, count, out_):\n"
        f"    theta = carray(theta_, ({max(at, 1)},))\n"
        f"    rows = carray(rows_, ({len(used)} * stride,))\n"
        "    out = carray(out_, (count,))\n"
        "    for i in range(count):\n"
        f"        out[i] = density({', '.join(arguments)})\n"
    )
    scope: dict[str, Any] = {"carray": numba.carray, "density": jitted}
    exec(source, scope)  # noqa: S102  names of arguments are not in it, only places
    pointer, integer = numba.types.CPointer(numba.types.float64), numba.types.int64
    signature = numba.types.void(pointer, pointer, integer, integer, pointer)
    try:
        compiled = numba.cfunc(signature, error_model="numpy")(scope["rows_of"])
    except numba.core.errors.NumbaError as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        raise InputError(f"log_density: Numba cannot compile it: {first}") from error
    try:
        text = inspect.getsource(plain)
    except (OSError, TypeError):
        text = repr(plain.__code__.co_code) + repr(plain.__code__.co_consts)
    return RowFunction(int(compiled.address), f"Numba {numba.__version__}", text, used, (compiled, jitted))

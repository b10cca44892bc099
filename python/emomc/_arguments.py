"""Checks arguments before the extension module converts them, so that messages name the argument."""

from __future__ import annotations

import difflib
import operator
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ._emomc import InputError

#: Largest numbers that the extension module accepts as a count, and as a seed.
MOST_INT, MOST_COUNT, MOST_SEED = 2**31 - 1, 2**63 - 1, 2**64 - 1


def integer(name: str, value: Any, least: int = 0, most: int = MOST_COUNT) -> int:
    """Returns an integer. Raises TypeError for another type, and InputError for a number out of range."""
    try:
        if type(value).__name__ in ("bool", "bool_"):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {_shown(value)}; allowed: an integer") from None
    if not least <= number <= most:
        allowed = f"{least} or more" if most == MOST_COUNT else f"{least} to {most}"
        raise InputError(f"{name}: {number} is out of range; allowed: {allowed}")
    return number


def real(name: str, value: Any) -> float:
    """Returns a number, which can be NaN. Raises TypeError for another type."""
    try:
        if isinstance(value, str | bytes) or type(value).__name__ in ("bool", "bool_"):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {_shown(value)}; allowed: a number") from None


def text(name: str, value: Any) -> str:
    """Returns a text. Raises TypeError for another type."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {_shown(value)}; allowed: a text")
    return str(value)


def flag(name: str, value: Any) -> bool:
    """Returns a truth value. Raises TypeError for another type."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{name}: {_shown(value)}; allowed: True, False")
    return bool(value)


def path(name: str, value: Any) -> str:
    """Returns a path. Raises TypeError if the value is no path, and ValueError if it is empty."""
    try:
        given = os.fsdecode(os.fspath(value))
    except TypeError:
        raise TypeError(f"{name}: {_shown(value)}; allowed: a path") from None
    if not given:
        raise ValueError(f"{name}: it is empty; allowed: a path")
    return given


def mapping(name: str, value: Any, of: str) -> dict[str, Any]:
    """Returns a dict whose keys are texts; None: an empty one. Raises TypeError for another type."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: {_shown(value)}; allowed: a dict of {of}")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"{name}: the key {_shown(key)}; allowed: texts")
    return dict(value)


def elements(name: str, value: Any, of: str) -> list[Any]:
    """Returns a list of the elements. Raises TypeError for texts, mappings, and values that are not iterable."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: {_shown(value)}; allowed: a list of {of}")
    return list(value)


def progress(value: Any) -> None:
    """Raises TypeError if `progress` is no truth value, no function and not None."""
    if value is not None and not isinstance(value, bool) and not callable(value):
        raise TypeError(f"progress: {_shown(value)}; allowed: None, True, False, or a function")


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns a question about the most similar known name, with a space at the end; "" if none is similar."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}? " if near else ""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Gives a warning at the line outside of this package that has called it."""
    package = __name__.partition(".")[0]
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_back.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


def _shown(value: Any) -> str:
    """Returns the value as a text of one line, with the name of its type if the text is long."""
    shown = repr(value)
    return shown if len(shown) <= 40 and "\n" not in shown else f"a value of type {type(value).__name__}"

"""Recordings and their labels as the extension module takes them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _emomc
from ._data import _array


class Recordings:
    """Recordings as the extension module takes them: paths, or samples x channels with their rate."""

    def __init__(self, items: list[Any], names: list[str]) -> None:
        self.items = items
        self.names = names

    @classmethod
    def of(cls, X: Any, rate: float | Sequence[float] | None, names: Sequence[str] | None, what: str = "X") -> Recordings:
        if isinstance(X, str | bytes | os.PathLike | Mapping):
            raise _emomc.InputError(f"{what}: {type(X).__name__}; allowed: a list of recordings")
        given = list(X)
        if not given:
            raise _emomc.InputError(f"{what}: there are no recordings")
        if np.ndim(rate or 0) > 0 and len(np.asarray(rate)) != len(given):
            raise _emomc.InputError(f"sampling_rate: {len(np.asarray(rate))} rates of {len(given)} recordings")
        rates = [rate] * len(given) if np.ndim(rate or 0) == 0 else list(np.asarray(rate, dtype=float))
        items = [_item(f"{what}[{i}]", one, rates[i]) for i, one in enumerate(given)]
        width = len(str(len(given)))
        called = [f"{what}[{i:0{width}}]" for i in range(len(given))] if names is None else [str(name) for name in names]
        if len(called) != len(given):
            raise _emomc.InputError(f"names: {len(called)} names of {len(given)} recordings")
        if len(set(called)) != len(called):
            twice = next(name for name in called if called.count(name) > 1)
            raise _emomc.InputError(f"names: {twice!r} occurs twice; allowed: distinct names")
        return cls(items, called)

    def emotions(self, y: Sequence[Any]) -> list[str]:
        """The class of each recording; numbers that are none of a class are refused."""
        if any(isinstance(value, float | np.floating) and not float(value).is_integer() for value in y):
            raise _emomc.InputError(
                "y: numbers, and Classifier predicts classes; emomc evaluate and train predict numbers (corpus.dimensions)"
            )
        return self.texts("y", y)

    def texts(self, what: str, values: Sequence[Any]) -> list[str]:
        """A label for each recording."""
        if isinstance(values, str | bytes):
            raise _emomc.InputError(f"{what}: a text; allowed: a list, with one of each recording")
        texts = [str(value) for value in values]
        if len(texts) != len(self.items):
            raise _emomc.InputError(f"{what}: {len(texts)} of {len(self.items)} recordings")
        return texts


def refuses(unreadable: str) -> bool:
    if unreadable not in ("refuse", "skip"):
        raise _emomc.InputError(f"unreadable: {unreadable!r} is unknown; allowed: refuse, skip")
    return unreadable == "refuse"


def _item(what: str, one: Any, rate: Any) -> Any:
    if isinstance(one, str | os.PathLike):
        return os.fspath(one)
    samples = _array(what, one)
    if samples.ndim not in (1, 2):
        raise _emomc.InputError(f"{what}: an array with {samples.ndim} axes; allowed: samples, or samples x channels")
    if samples.ndim == 2 and samples.shape[1] > samples.shape[0]:
        raise _emomc.InputError(
            f"{what}: {samples.shape[0]} samples of {samples.shape[1]} channels; allowed: samples x channels"
        )
    if rate is None:
        raise _emomc.InputError(f"{what}: an array without a rate; allowed: sampling_rate=, in Hz")
    if samples.dtype.kind == "f":
        scaled = samples.astype(np.float64, copy=False)
    elif samples.dtype in (np.int16, np.int32):
        scaled = samples / -float(np.iinfo(samples.dtype).min)
    else:
        raise _emomc.InputError(f"{what}: samples of type {samples.dtype}; allowed: floating-point, int16, int32")
    return np.ascontiguousarray(scaled.reshape(len(scaled), -1)), float(rate)

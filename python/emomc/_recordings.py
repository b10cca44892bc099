"""Converts recordings and their labels to the forms that the extension module accepts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc
from ._data import _array, is_on_gpu


class Recordings:
    """Recordings in the form of the extension module: paths, or pairs of samples x channels and their rate in Hz."""

    def __init__(self, items: list[Any], names: list[str]) -> None:
        self.items = items
        self.names = names

    @classmethod
    def of(cls, X: Any, rate: float | Sequence[float] | None, names: Sequence[str] | None, what: str = "X") -> Recordings:
        if isinstance(X, str | bytes | os.PathLike | Mapping) or not isinstance(X, Iterable):
            raise _emomc.InputError(f"{what}: {type(X).__name__}; allowed: a list of recordings")
        given = list(X)
        if not given:
            raise _emomc.InputError(f"{what}: there are no recordings")
        rates = [rate] * len(given) if rate is None or np.ndim(rate) == 0 else np.asarray(rate).tolist()
        if len(rates) != len(given):
            raise _emomc.InputError(f"sampling_rate: {len(rates)} rates of {len(given)} recordings")
        items = [_item(f"{what}[{i}]", one, rates[i]) for i, one in enumerate(given)]
        width = len(str(len(given)))
        if names is None:
            called = [f"{what}[{i:0{width}}]" for i in range(len(given))]
        else:
            called = [str(name) for name in _arguments.elements("names", names, "names")]
        if len(called) != len(given):
            raise _emomc.InputError(f"names: {len(called)} names of {len(given)} recordings")
        if len(set(called)) != len(called):
            twice = next(name for name in called if called.count(name) > 1)
            raise _emomc.InputError(f"names: {twice!r} occurs twice; allowed: distinct names")
        return cls(items, called)

    def emotions(self, y: Sequence[Any]) -> list[str]:
        """Returns the class of each recording. Raises InputError for numbers that are not integers."""
        y = y if isinstance(y, str | bytes) else _arguments.elements("y", y, "labels")
        if any(isinstance(value, float | np.floating) and not float(value).is_integer() for value in y):
            raise _emomc.InputError(
                "y: numbers, and Classifier predicts classes; allowed: names of classes; Regressor predicts numbers"
            )
        return self.texts("y", y)

    def texts(self, what: str, values: Sequence[Any]) -> list[str]:
        """Returns the labels as texts. Raises InputError if there is not one for each recording."""
        if isinstance(values, str | bytes):
            raise _emomc.InputError(f"{what}: a text; allowed: a list, with one of each recording")
        given = _arguments.elements(what, values, "labels")
        if len(given) != len(self.items):
            raise _emomc.InputError(f"{what}: {len(given)} of {len(self.items)} recordings")
        for i, value in enumerate(given):
            if _is_missing(value):
                raise _emomc.InputError(f"{what}[{i}]: {value!r}; allowed: a label for each recording")
        return [str(value) for value in given]


def _is_missing(value: Any) -> bool:
    """Whether a label is empty, or None, NaN or NA, by which lists and data frames mark missing values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value != value) if isinstance(value, float | np.floating) else str(value).strip() == ""


class _RowModel(Protocol):
    """A model that predicts recordings from functionals, standardised by recordings of the speaker."""

    def rows(self, recordings: list[Any], names: list[str], threads: int) -> tuple[NDArray[np.float64], list[int]]: ...
    def of_speaker(self, rows: NDArray[np.float64], frames: list[int]) -> tuple[Any, ...]: ...
    def by_enrolment(
        self, rows: NDArray[np.float64], frames: list[int], others: NDArray[np.float64]
    ) -> tuple[Any, ...]: ...


def predicted_by_speaker(
    model: _RowModel,
    X: Any,
    sampling_rate: float | Sequence[float] | None,
    speakers: Sequence[str] | None,
    enrolment: Any,
    threads: int,
) -> list[Any]:
    """Returns the predictions of `model` for recordings.

    The first axis of arrays is the axis of X; single numbers apply to all recordings. Raises InputError if a recording
    cannot be predicted, or both `speakers` and `enrolment` are given.
    """
    if speakers is not None and enrolment is not None:
        raise _emomc.InputError("speakers, enrolment: both are given; allowed: one of them")
    given = Recordings.of(X, sampling_rate, None)
    rows, frames = model.rows(given.items, given.names, threads)
    if enrolment is not None:
        if not isinstance(enrolment, str | bytes | os.PathLike | Mapping):
            enrolment = list(enrolment)
        others = Recordings.of(enrolment, _one_rate(sampling_rate, enrolment), None, what="enrolment")
        known, _ = model.rows(others.items, others.names, threads)
        return list(model.by_enrolment(rows, frames, known))
    who = np.array([""] * len(rows) if speakers is None else given.texts("speakers", speakers), dtype=object)
    all_of_them: list[Any] = []
    for speaker in dict.fromkeys(who):
        own = np.flatnonzero(who == speaker)
        for k, part in enumerate(model.of_speaker(np.ascontiguousarray(rows[own]), [frames[i] for i in own])):
            is_array = isinstance(part, np.ndarray)
            if k == len(all_of_them):
                all_of_them.append(np.empty((len(rows), *part.shape[1:])) if is_array else part)
            if is_array:
                all_of_them[k][own] = part
    return all_of_them


def _one_rate(sampling_rate: float | Sequence[float] | None, enrolment: Any) -> float | None:
    """Returns the rate of arrays of `enrolment`, which is that of all recordings of X.

    Raises InputError if X has several rates and `enrolment` has arrays.
    """
    rates = set() if sampling_rate is None else set(np.atleast_1d(np.asarray(sampling_rate, dtype=float)).tolist())
    if len(rates) < 2:
        return rates.pop() if rates else None
    if not all(isinstance(one, str | os.PathLike) for one in enrolment):
        raise _emomc.InputError(
            f"enrolment: arrays, and sampling_rate has {len(rates)} different rates; allowed: paths, or one rate for all"
        )
    return None


def refuse_existing_model(directory: str | os.PathLike[str], overwrite: bool) -> str:
    """Returns the path. Raises InputError if the directory has a model and `overwrite` is False."""
    path = _arguments.path("directory", directory)
    if not _arguments.flag("overwrite", overwrite) and os.path.lexists(os.path.join(path, "model.json")):
        raise _emomc.InputError(f"{path}: has a model; allowed: overwrite=True, or another directory")
    return path


def refuses(unreadable: str) -> bool:
    if unreadable not in ("refuse", "skip"):
        raise _emomc.InputError(f"unreadable: {unreadable!r} is unknown; allowed: refuse, skip")
    return unreadable == "refuse"


def _item(what: str, one: Any, rate: Any) -> Any:
    if isinstance(one, str | os.PathLike):
        return os.fspath(one)
    if is_on_gpu(one):
        raise _emomc.InputError(f"{what}: an array of a GPU; allowed: a copy of it in the host's memory")
    samples = _array(what, one)
    if samples.ndim not in (1, 2):
        raise _emomc.InputError(f"{what}: an array with {samples.ndim} axes; allowed: samples, or samples x channels")
    if samples.size == 0:
        raise _emomc.InputError(f"{what}: there are no samples")
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
    hertz = _arguments.real("sampling_rate", rate)
    if not 0 < hertz < float("inf"):
        raise _emomc.InputError(f"sampling_rate: {hertz:g} is out of range; allowed: above 0, in Hz")
    return np.ascontiguousarray(scaled.reshape(len(scaled), -1)), hertz

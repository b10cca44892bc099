"""Tables from what Python has: dictionaries, data frames, arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def table_of(data: Any) -> tuple[list[str], NDArray[np.float64]]:
    """Names of columns, and rows x columns.

    `data` is a mapping of names to one-dimensional arrays of one length, a data frame (anything with `columns` and
    `to_numpy`), or an array rows x columns, whose columns are then named c0, c1, ... Arrays are those of NumPy, lists,
    and anything with `__dlpack__` in the host's memory, such as JAX's and PyTorch's.
    """
    if isinstance(data, Mapping):
        return _of_mapping({str(name): _array(f"data[{str(name)!r}]", values) for name, values in data.items()})
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return _of_mapping({str(name): np.asarray(data[name]) for name in data.columns})
    array = _array("data", data)
    if array.ndim != 2:
        raise ValueError(f"data: an array with {array.ndim} axes; allowed: rows x columns, or a dict of columns")
    names = [f"c{j}" for j in range(array.shape[1])]
    return names, np.ascontiguousarray(_numbers("data", array))


def _array(what: str, values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return np.asarray(values)
    cpu = 1  # DLPack's kDLCPU
    device = int(values.__dlpack_device__()[0])
    if device != cpu:
        raise ValueError(f"{what}: an array of another device (DLPack's {device}); allowed: copy it to the host first")
    return np.asarray(np.from_dlpack(values))


def _of_mapping(columns: dict[str, NDArray[Any]]) -> tuple[list[str], NDArray[np.float64]]:
    if not columns:
        raise ValueError("data: there are no columns")
    lengths = {name: values.shape for name, values in columns.items()}
    first = next(iter(lengths.values()))
    for name, shape in lengths.items():
        if len(shape) != 1:
            raise ValueError(f"data[{name!r}]: an array with {len(shape)} axes; allowed: one")
        if shape != first:
            raise ValueError(f"data[{name!r}]: {shape[0]} values; the first column has {first[0]}")
    table = np.empty((first[0], len(columns)))
    for j, (name, values) in enumerate(columns.items()):
        table[:, j] = _numbers(f"data[{name!r}]", values)
    return list(columns), table


def _numbers(what: str, values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{what}: values of type {values.dtype}; allowed: numbers")
    return values.astype(np.float64, copy=False)

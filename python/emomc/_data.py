"""Converts dictionaries, data frames, and arrays of the host or of a GPU to tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._emomc import InputError

#: DLPack's numbers of devices with memory of the host, and with memory of CUDA GPUs.
_HOST, _CUDA = (1,), (2, 13)


def columns_of(data: Any) -> tuple[list[str], list[Any]]:
    """Returns the names of columns, and a list of arrays: one for each column, or a single one of rows x columns.

    `data` is a mapping of names to one-dimensional arrays of one length, a data frame (any object with `columns` and
    `to_numpy`), or an array of rows x columns, whose columns are named c0, c1, ... Arrays can be NumPy arrays, lists,
    and objects with `__dlpack__` or `__cuda_array_interface__`, such as arrays of CuPy, JAX and PyTorch. Arrays on a
    GPU are not copied; `_emomc.Posterior` accepts the tuples that stand for them (`_array`).

    Raises ValueError if shapes or types are not allowed.
    """
    if isinstance(data, Mapping):
        _check_names(data)
        return _of_mapping({str(name): _array(f"data[{str(name)!r}]", values) for name, values in data.items()})
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        _check_names(data.columns)
        return _of_mapping({str(name): np.asarray(data[name]) for name in data.columns})
    array = _array("data", data)
    shape = shape_of(array)
    if len(shape) != 2:
        raise ValueError(f"data: an array with {len(shape)} axes; allowed: rows x columns, or a dict of columns")
    return [f"c{j}" for j in range(shape[1])], [_numbers("data", array)]


def table_of(data: Any) -> tuple[list[str], NDArray[np.float64]]:
    """Returns the names of columns, and an array rows x columns on the host. Raises InputError for arrays on a GPU."""
    names, arrays = columns_of(data)
    if any(is_on_gpu(array) for array in arrays):
        raise InputError("X: an array of a GPU, which is not copied to the host; allowed: a copy of it there")
    if len(arrays) == 1 and arrays[0].ndim == 2:
        return names, np.ascontiguousarray(arrays[0], dtype=np.float64)
    table = np.empty((len(arrays[0]), len(arrays)))
    for j, array in enumerate(arrays):
        table[:, j] = array
    return names, table


def is_on_gpu(array: Any) -> bool:
    """Returns whether an array, or a tuple that stands for an array in `columns_of`, is in the memory of a CUDA GPU."""
    if isinstance(array, tuple) or hasattr(array, "__cuda_array_interface__"):
        return True
    return hasattr(array, "__dlpack_device__") and int(array.__dlpack_device__()[0]) in _CUDA


def shape_of(array: Any) -> tuple[int, ...]:
    return tuple(array[1]) if isinstance(array, tuple) else tuple(array.shape)


def _array(what: str, values: Any) -> Any:
    if np.ma.is_masked(values):
        raise ValueError(f"{what}: an array with masked values; allowed: numbers in all rows")
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "__cuda_array_interface__"):
        interface = values.__cuda_array_interface__
        if interface.get("mask") is not None:
            raise ValueError(f"{what}: an array with a mask; allowed: numbers in all rows")
        # The interface's stream is not needed, because the extension waits for all work of the GPU.
        return (interface["data"][0], tuple(interface["shape"]), interface.get("strides"), interface["typestr"], values)
    if not hasattr(values, "__dlpack_device__"):
        return np.asarray(values)
    device = int(values.__dlpack_device__()[0])
    if device in _CUDA:
        if not hasattr(values, "shape"):
            raise ValueError(f"{what}: an array of a GPU that has no shape; allowed: arrays as CuPy's")
        return values
    if device not in _HOST:
        raise ValueError(f"{what}: an array of another device (DLPack's {device}); allowed: copy it to the host first")
    return np.asarray(np.from_dlpack(values))


def _check_names(names: Iterable[Any]) -> None:
    """Raises ValueError if two columns have the same name as texts."""
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        name = next(name for name in texts if texts.count(name) > 1)
        raise ValueError(f"data: {name!r} names {texts.count(name)} columns; allowed: distinct names")


def _of_mapping(columns: dict[str, Any]) -> tuple[list[str], list[Any]]:
    if not columns:
        raise ValueError("data: there are no columns")
    lengths = {name: shape_of(values) for name, values in columns.items()}
    first = next(iter(lengths.values()))
    for name, shape in lengths.items():
        if len(shape) != 1:
            raise ValueError(f"data[{name!r}]: an array with {len(shape)} axes; allowed: one")
        if shape != first:
            raise ValueError(f"data[{name!r}]: {shape[0]} values; the first column has {first[0]}")
    return list(columns), [_numbers(f"data[{name!r}]", values) for name, values in columns.items()]


def _numbers(what: str, values: Any) -> Any:
    """Returns the values in a type that the extension reads; the extension converts these types to float64."""
    if not isinstance(values, np.ndarray):
        return values
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{what}: values of type {values.dtype}; allowed: numbers")
    is_read = values.dtype.isnative and values.dtype.itemsize <= 8 and values.dtype != np.float16
    return values if is_read else values.astype(np.float64)

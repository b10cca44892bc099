"""Compares a model with the run whose draws it is to explain."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _emomc

if TYPE_CHECKING:
    from ._model import _Density

_InputError = _emomc.InputError


def check_model(directory: str, draws: _emomc.Draws, model: _Density) -> None:
    """Raises InputError if the model has other parameters or other data than the run in the directory.

    The data are compared by the columns, the number of rows and the SHA-256 that manifest.json states, and by the log
    likelihood of the first draw. A model of data on a GPU is compared by the columns and the number of rows only; the
    SHA-256 of data on a GPU differs from that of a copy on the host.
    """
    posterior = model._posterior
    own = posterior.names
    theirs = draws.names[draws.num_log_densities : draws.num_log_densities + draws.chain(0)[1].shape[1]]
    if own != theirs:
        raise _InputError(
            f"model: {directory}: the draws have other parameters than the posterior of the model: {_first_difference(theirs, own)}"
        )
    data = _data_of_manifest(directory)
    columns = [str(name) for name in data.get("columns") or []]
    if missing := [name for name in columns if name not in posterior.columns]:
        raise _InputError(f"model: {directory}: the run reads the column {missing[0]}, which the model's data do not have")
    rows = data.get("rows")
    if isinstance(rows, int) and rows != posterior.num_rows:
        raise _InputError(f"model: {directory}: the run has {rows} rows, and the model {posterior.num_rows}")
    if posterior.gpu is not None:
        return
    may_be_of_gpu = draws.backend == "cuda" and data.get("files") == ["memory"]
    if columns and isinstance(data.get("sha256"), str) and not data.get("categories") and not may_be_of_gpu:
        values = posterior.data[:, [posterior.columns.index(name) for name in columns]]
        if _hash_of(columns, values) != data["sha256"]:
            raise _InputError(f"model: {directory}: the model's data have other values than those of the run, by their SHA-256")
    with model._watched():
        of_rows = posterior.row_log_likelihoods(draws, 1)
    expected, found = float(draws.values[draws.names.index("log_likelihood")][0, 0]), float(of_rows.sum())
    # Rows in mixed precision have relative errors of about 1e-6.
    if not abs(found - expected) <= 1e-4 * (1 + float(np.abs(of_rows).sum())):
        raise _InputError(
            f"model: {directory}: the log likelihood of the first draw is {found:.6g} in the model and was {expected:.6g} in "
            "the run; allowed: a model with the same likelihood"
        )


def _first_difference(theirs: list[str], own: list[str]) -> str:
    if len(theirs) != len(own):
        return f"{len(theirs)} numbers in the run, and {len(own)} in the model"
    return next(f"{a} in the run, and {b} in the model" for a, b in zip(theirs, own, strict=True) if a != b)


def _data_of_manifest(directory: str) -> dict[str, Any]:
    """Returns what manifest.json states about the data; empty if the file is missing or damaged."""
    try:
        with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as file:
            data = json.load(file)["data"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return data if isinstance(data, dict) else {}


def _hash_of(columns: list[str], values: Any) -> str:
    """Returns the SHA-256 of a table, as hash_table of libposterior computes it for data on the host."""
    header = "".join(f"{name}\n" for name in columns)
    of_values = hashlib.sha256(np.ascontiguousarray(values, dtype=np.float64).tobytes()).hexdigest()
    return hashlib.sha256((header + of_values).encode()).hexdigest()

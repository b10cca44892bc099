"""Comparison of models by leave-one-out cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _arguments
from ._draws import Draws, Rows, draws_of

# Limits of Pareto k (Vehtari et al. 2024) and of differences (Sivula, Magnusson and Vehtari 2020, section 6).
_GOOD_K = 0.7
_SMALL_DIFFERENCE, _STANDARD_ERRORS = 4.0, 2.0


class Comparison(Rows):
    """Models ordered by expected log predictive density (elpd), the best first; `compare` returns it.

    Iteration gives a dictionary for each model, with the keys name, elpd_loo, se_elpd_loo, p_loo, elpd_difference and
    se_difference (relative to the best model), num_bad_k (number of Pareto k above 0.7), worst_k, trusted and
    num_draws. `comparison["name"]` is the dictionary of one model, and `pandas.DataFrame(list(comparison))` a table of
    all. `warnings` is a list of sentences.

    >>> import emomc
    >>> data = {"x": [0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "y": [0.1, 1, 2.2, 2.9, 4, 5.1, 6, 6.8, 8.1, 9]}
    >>> def model(mean, **parameters):
    ...     return emomc.Model(data=data, parameters=parameters, log_density=f"normal_lpdf(y, {mean}, 1)",
    ...                        priors={name: emomc.normal(0, 10) for name in parameters})
    >>> line = emomc.sample(model("a + b * x", a=emomc.real(), b=emomc.real()), progress=False)
    >>> flat = emomc.sample(model("a", a=emomc.real()), progress=False)
    >>> comparison = emomc.compare({"flat": flat, "line": line})
    >>> [row["name"] for row in comparison]
    ['line', 'flat']
    """

    def __init__(self, rows: list[dict[str, Any]], warnings: list[str]) -> None:
        self._rows = rows
        self.warnings = warnings

    def __getitem__(self, name: str) -> dict[str, Any]:
        for row in self._rows:
            if row["name"] == name:
                return row
        raise KeyError(f"{name}; there are: {', '.join(row['name'] for row in self._rows)}")

    def __str__(self) -> str:
        names = ("name", "elpd_loo", "se_elpd_loo", "p_loo", "elpd_difference", "se_difference", "num_bad_k", "worst_k")
        cells = [["model", "elpd", "se", "p", "difference", "se", "k > 0.7", "worst k"]]
        for row in self._rows:
            cells.append([f"{v:.2f}" if isinstance(v, float) else str(v) for v in (row[name] for name in names)])
        widths = [max(len(line[j]) for line in cells) for j in range(len(cells[0]))]
        lines = [
            "  ".join(c.ljust(w) if j == 0 else c.rjust(w) for j, (c, w) in enumerate(zip(line, widths, strict=True)))
            for line in cells
        ]
        return "\n".join(lines + [f"warning: {warning}" for warning in self.warnings])

    __repr__ = __str__


def compare(runs: Mapping[str, Draws], *, by: ArrayLike | None = None, draws: int = 1000) -> Comparison:
    """Ranks models of the same data by leave-one-out cross-validation, as `emomc compare` does.

    The expected log predictive density is estimated by Pareto smoothed importance sampling (Vehtari, Gelman and Gabry
    2017; Vehtari, Simpson, Gelman, Yao and Gabry 2024). Runs that `diagnose` rejects are ranked after the others.

    Parameters
    ----------
    runs
        Draws by the names of their models. Draws must know their model, as those of `sample`,
        `fit_posterior(...).draws_` and `read_run(path, model)` do.
    by
        Group of each row [rows]; rows with equal values are left out together. None: each row is left out on its own.
    draws
        Maximum number of draws that are used of each run, at equal distances.

    Raises
    ------
    ValueError
        if there are no runs, the model of a run is not known, or the data differ in the number of rows or in the values
        of a column that two models share.

    >>> import emomc
    >>> data = {"y": [0.0, 1, 2, 3, 4]}
    >>> def run(sd):
    ...     return emomc.sample(emomc.Model(data=data, parameters={"m": emomc.real()},
    ...                         log_density=f"normal_lpdf(y, m, {sd})", priors={"m": emomc.normal(0, 10)}),
    ...                         progress=False)
    >>> print([row["name"] for row in emomc.compare({"narrow": run(0.2), "wide": run(2)})])
    ['wide', 'narrow']
    """
    runs = _arguments.mapping("runs", runs, "draws by name")
    if not runs:
        raise ValueError("runs: there are none; allowed: a dict of draws by name")
    for name, run in runs.items():
        draws_of(f"runs[{name!r}]", run)
    draws = _arguments.integer("draws", draws, 1)
    first = next(iter(runs))
    for name, run in runs.items():
        _check_same_data(first, runs[first], name, run)
    groups = _group_numbers(by, runs[first]._known_model()._posterior.num_rows)
    results: list[tuple[dict[str, Any], Any]] = []
    warnings: list[str] = []
    for name, run in runs.items():
        with run._known_model()._watched():
            elpd, p, k, used = run._known_model()._posterior.leave_one_out(run._draws, groups, draws)
        problems = [finding for finding in run.diagnose() if finding.severity == "problem"]
        row: dict[str, Any] = {
            "name": name,
            "elpd_loo": float(elpd.sum()),
            "se_elpd_loo": _standard_error(elpd),
            "p_loo": float(p.sum()),
            "elpd_difference": 0.0,
            "se_difference": 0.0,
            "num_bad_k": int((k > _GOOD_K).sum()),
            "worst_k": float(k.max()),
            "trusted": not problems,
            "num_draws": used,
        }
        results.append((row, elpd))
        if problems:
            warnings.append(f"{name}: diagnose rejects this run ({problems[0].text}); it is ranked behind the others")
        if row["num_bad_k"]:
            warnings.append(
                f"{name}: Pareto k above {_GOOD_K} for {row['num_bad_k']} of {len(k)} ({row['worst_k']:.2f} at worst): "
                "its elpd is not to be relied on"
            )
    results.sort(key=lambda result: (not result[0]["trusted"], -result[0]["elpd_loo"]))
    best = results[0]
    for row, elpd in results[1:]:
        row["elpd_difference"] = float((elpd - best[1]).sum())
        row["se_difference"] = _standard_error(elpd - best[1])
        size = abs(row["elpd_difference"])
        if row["trusted"] and size < max(_SMALL_DIFFERENCE, _STANDARD_ERRORS * row["se_difference"]):
            warnings.append(
                f"{row['name']} and {best[0]['name']} are tied: a difference of {size:.1f} with a standard error of "
                f"{row['se_difference']:.1f} does not tell which predicts better"
            )
    return Comparison([row for row, _ in results], warnings)


def _group_numbers(by: ArrayLike | None, rows: int) -> list[int]:
    """Returns the group number of each row; empty: each row is a group of its own."""
    if by is None:
        return []
    labels = np.asarray(by)
    if labels.shape != (rows,):
        raise ValueError(f"by: an array of shape {labels.shape}; allowed: one value for each of the {rows} rows")
    groups: list[int] = np.unique(labels, return_inverse=True)[1].tolist()
    return groups


def _standard_error(pointwise: Any) -> float:
    return float(np.sqrt(len(pointwise)) * np.std(pointwise, ddof=1)) if len(pointwise) > 1 else float("nan")


def _check_same_data(first: str, one: Draws, name: str, other: Draws) -> None:
    a, b = one._known_model()._posterior, other._known_model()._posterior
    if a.num_rows != b.num_rows:
        raise ValueError(f"{name}: {b.num_rows} rows, but {first} has {a.num_rows}; only models of the same data can be compared")
    if a is b:
        return
    data, other_data = a.data, b.data
    for column in set(a.columns) & set(b.columns):
        if not np.array_equal(data[:, a.columns.index(column)], other_data[:, b.columns.index(column)]):
            raise ValueError(f"{name}: other values of {column} than {first}; only models of the same data can be compared")

"""Predictions of rows, averaged over draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc
from ._data import columns_of, shape_of

_Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Prediction:
    """Summary over draws of an output of each row.

    The arrays of the output `component` of a mixture have an axis of components after the axis of rows.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()}, rows={"off": "x - m"},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> emomc.sample(model, draws=100, progress=False).predict()["off"]
    emomc.Prediction(3 rows)
    """

    mean: _Floats  #: [rows] mean over draws
    sd: _Floats  #: [rows] standard deviation over draws
    quantiles: _Floats  #: [rows x levels] quantiles over draws, with linear interpolation (NumPy's default)

    def __repr__(self) -> str:
        components = f" x {self.mean.shape[1]} components" if self.mean.ndim == 2 else ""
        return f"emomc.Prediction({_counted(len(self.mean), 'row')}{components})"


@dataclass(frozen=True, repr=False)
class Partition:
    """A partition of rows into the components of a mixture, which summarises all draws (docs/statistics.md).

    >>> import emomc
    >>> mixture = emomc.GaussianMixture(2, ordered=True)
    >>> draws = mixture.fit_posterior([[-9.0], [-8], [-10], [9], [8], [10]], draws=100, progress=False).draws_
    >>> draws.predict().partition.component
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    component: NDArray[np.int32]  #: [rows] component of each row
    pairs_that_differ: float  #: expected share of pairs of rows that are together here but not in truth, or the reverse
    is_most_probable: bool  #: whether each row is in its most probable component
    num_candidates: int  #: number of partitions that were compared
    num_draws: int  #: number of draws by which partitions were compared

    def __repr__(self) -> str:
        return f"emomc.Partition({_counted(len(self.component), 'row')})"


class Predictions(Mapping[str, Prediction]):
    """Outputs by name, each with mean, sd and quantiles of all rows; `Draws.predict` returns them.

    `levels` has the levels of the quantiles, `num_draws` the number of draws that were used, and `partition` the best
    partition of the rows (None if the likelihood is not a mixture).

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()}, rows={"off": "x - m"},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> predicted = emomc.sample(model, draws=100, progress=False).predict({"x": [5.0, 7.0]})
    >>> predicted
    emomc.Predictions(2 rows, 400 draws: off)
    >>> list(predicted.columns())
    ['row', 'off_mean', 'off_sd', 'off_q5', 'off_q50', 'off_q95']
    """

    def __init__(
        self, outputs: dict[str, Prediction], levels: Sequence[float], num_draws: int, partition: Partition | None
    ) -> None:
        self._outputs = outputs
        self.levels = tuple(levels)
        self.num_draws = num_draws
        self.partition = partition

    def __getitem__(self, name: str) -> Prediction:
        if name not in self._outputs:
            raise KeyError(f"{name}; there are: {', '.join(self._outputs)}")
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        rows = _counted(len(next(iter(self._outputs.values())).mean), "row")
        return f"emomc.Predictions({rows}, {_counted(self.num_draws, 'draw')}: {', '.join(self._outputs)})"

    def columns(self) -> dict[str, Any]:
        """Returns the columns of the table that `emomc predict` writes, for pandas.DataFrame.

        The first column is `row`, counted from 1. Each output has the columns NAME_mean, NAME_sd and quantiles such as
        NAME_q5. Mixtures have the column `partition`, and the outputs component_0, component_1, ... without quantiles.
        """
        table: dict[str, Any] = {}
        for name, output in self._outputs.items():
            table.setdefault("row", np.arange(1, len(output.mean) + 1))
            if self.partition is not None:
                table["partition"] = self.partition.component
                for k in range(output.mean.shape[1]):
                    table |= {f"{name}_{k}_mean": output.mean[:, k], f"{name}_{k}_sd": output.sd[:, k]}
                continue
            table |= {f"{name}_mean": output.mean, f"{name}_sd": output.sd}
            table |= {f"{name}_q{100 * level:.10g}": output.quantiles[:, q] for q, level in enumerate(self.levels)}
        return table


def predict(
    draws: _emomc.Draws, posterior: _emomc.Posterior | None, data: Any, quantiles: Sequence[float], most_draws: int
) -> Predictions:
    """Implements Draws.predict. `posterior` was sampled; None: the likelihood is read from the run directory."""
    given = [quantiles] if isinstance(quantiles, int | float) else np.asarray(quantiles).tolist()
    levels = [_arguments.real("quantiles", level) for level in _arguments.elements("quantiles", given, "levels")]
    most = _arguments.integer("most_draws", most_draws, 1)
    columns, arrays = ([], []) if data is None else _needed(data, *_emomc.predicted_columns(draws, posterior))
    names, num_draws, mean, sd, at_levels, found = _emomc.predict(
        draws, posterior, columns, arrays, most, levels
    )
    if found is None:
        outputs = {
            name: Prediction(*(np.ascontiguousarray(values[:, q]) for values in (mean, sd, at_levels)))
            for q, name in enumerate(names)
        }
        return Predictions(outputs, levels, num_draws, None)
    component, differ, is_most_probable, candidates, used, overlap = found
    if overlap:
        _arguments.warn(
            f"{overlap}; their probabilities depend on how draws are matched, but of the partition only the numbers of the components do"
        )
    partition = Partition(component, differ, is_most_probable, candidates, used)
    return Predictions({"component": Prediction(mean, sd, at_levels)}, levels, num_draws, partition)


def _needed(data: Any, every: list[str], needed: list[str]) -> tuple[list[str], list[Any]]:
    """Returns the names and arrays of the columns of new data that outputs read.

    `every` lists the columns of the model, and `needed` those that outputs read. An array without names must have all
    columns of the model, in the model's order. Raises InputError if a column is missing.
    """
    is_frame = hasattr(data, "columns") and hasattr(data, "to_numpy")
    if not isinstance(data, Mapping) and not is_frame:
        columns, arrays = columns_of(data)
        if len(columns) != len(every):
            raise _emomc.InputError(
                f"data: an array of {_counted(len(columns), 'column')}, and the model has {len(every)} "
                f"({', '.join(every)}); allowed: these, or a dict or a data frame of {', '.join(needed) or 'any column'}"
            )
        return every, arrays
    there = {str(name): data[name] for name in (data.columns if is_frame else data)}
    for name in needed:
        if name not in there:
            hint = _arguments.nearest(name, there)
            raise _emomc.InputError(f"data: there is no column {name}; {hint}needed: {', '.join(needed)}")
    if needed or not there:
        return columns_of({name: there[name] for name in needed})
    # Outputs read parameters only, so that any column serves to give the number of rows.
    name, values = next(iter(there.items()))
    return [name], [np.zeros(shape_of(values if hasattr(values, "shape") else np.asarray(values))[:1])]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")

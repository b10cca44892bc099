"""Stacking: weights of chains in different modes, chosen for their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arguments
from ._compare import _group_numbers
from ._draws import Draws, Rows, draws_of, globs


class Stacking(Rows):
    """Weights with which the chains of a run together predict best; `stack` returns them.

    Stacking is the cheap method: the weights are not the posterior's mass in the modes of the chains. To sample the
    posterior, use `sample(..., tempering=12)`. Iteration gives a dictionary for each cluster of chains, with the keys
    chains, weight, mean_log_density, elpd_loo, p_loo, num_bad_k (number of Pareto k above 0.7) and worst_k. `weights`
    [chains] sum to 1, and `warnings` is a list of sentences.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [7.9, 8.1, 8.0, 8.2, 7.8]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, abs(m), 0.5)", priors={"m": emomc.normal(0, 10)})
    >>> stacking = emomc.stack(emomc.sample(model, draws=500, proposal="random_walk", progress=False))
    >>> stacking.weights.shape, round(float(stacking.weights.sum()), 6)
    ((4,), 1.0)
    """

    def __init__(self, draws: Draws, found: dict[str, Any]) -> None:
        self._rows = found["clusters"]
        self._draws = draws
        self.weights: NDArray[np.float64] = found["weights"]  #: [chains] weights, whose sum is 1
        self.elpd_loo: float = found["elpd_loo"]  #: elpd of the weighted mixture, which is optimistic
        self.elpd_loo_of_equal_weights: float = found["elpd_loo_of_equal_weights"]
        self.warnings: list[str] = found["warnings"]

    def summary(self, patterns: str | Sequence[str] = ()) -> list[dict[str, Any]]:
        """Returns means, sds and quantiles over the weighted draws, a dictionary for each quantity.

        The keys are name, label, mean, sd, q5, q50 and q95. `patterns` are shell globs such as "means*"; without
        patterns, all quantities are included.
        """
        return self._draws._draws.stacked_rows(self.weights.tolist(), globs(patterns))

    def __str__(self) -> str:
        cells = [["chains", "weight", "mean log density", "elpd", "k > 0.7", "worst k"]]
        for row in self._rows:
            cells.append(
                [
                    ", ".join(map(str, row["chains"])),
                    f"{row['weight']:.4f}",
                    f"{row['mean_log_density']:.2f}",
                    f"{row['elpd_loo']:.2f}",
                    str(row["num_bad_k"]),
                    f"{row['worst_k']:.2f}",
                ]
            )
        widths = [max(len(line[j]) for line in cells) for j in range(len(cells[0]))]
        lines = [
            "  ".join(c.ljust(w) if j == 0 else c.rjust(w) for j, (c, w) in enumerate(zip(line, widths, strict=True)))
            for line in cells
        ]
        return "\n".join(lines + [f"warning: {warning}" for warning in self.warnings])

    __repr__ = __str__


def stack(
    draws: Draws, *, clusters: Sequence[int] | None = None, by: ArrayLike | None = None, draws_per_chain: int = 500
) -> Stacking:
    """Weights chains in different modes by how well they predict, as `emomc stack` does.

    Each row is left out by Pareto smoothed importance sampling within each chain. The weights maximise the log score of
    the mixture of the chains' predictive densities (Yao, Vehtari and Gelman 2022).

    Parameters
    ----------
    draws
        Draws that know their model, as those of `sample`, `fit_posterior(...).draws_` and `read_run(path, model)` do.
    clusters
        Cluster of each chain [chains], numbered from 0 without gaps; the chains of a cluster share one weight. None:
        each chain is a cluster.
    by
        Group of each row [rows]; rows with equal values are left out together. None: each row is left out on its own.
    draws_per_chain
        Maximum number of draws that are used of each chain, at equal distances.

    Raises
    ------
    ValueError
        if the model is not known, or the length or the numbers of `clusters` or `by` are not allowed.

    >>> import emomc
    >>> mixture = emomc.GaussianMixture(2).fit_posterior([[0.0], [0.1], [0.3], [4], [4.1], [4.4]] * 5, progress=False)
    >>> len(emomc.stack(mixture.draws_, clusters=[0, 0, 1, 1]))
    2
    """
    model = draws_of("draws", draws)._known_model()
    posterior = model._posterior
    groups = _group_numbers(by, posterior.num_rows)
    given = [] if clusters is None else np.asarray(clusters).tolist()
    numbers = [_arguments.integer("clusters", number, -_arguments.MOST_INT) for number in _arguments.elements("clusters", given, "numbers")]
    if any(number < 0 for number in numbers):
        raise ValueError("clusters: numbers below 0; allowed: 0, 1 and so on without gaps")
    most = _arguments.integer("draws_per_chain", draws_per_chain, 1)
    with model._watched():
        return Stacking(draws, posterior.stack(draws._draws, numbers, groups, most))

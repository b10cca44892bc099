"""Draws of a run, their summary, and what is wrong with them."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _emomc

if TYPE_CHECKING:
    import arviz

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """Something that is worth knowing about a run, or wrong with it."""

    severity: str  #: "note", "warning", or "problem": the draws should not be trusted
    check: str  #: a short name, such as "rhat"
    text: str  #: what was found
    advice: str  #: what to do

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}\n  {self.advice}"


class Summary:
    """Mean, sd, quantiles, Monte Carlo errors, effective sample sizes and R-hat of quantities.

    Iterates over dictionaries with the keys name, label, mean, sd, q5, q50, q95, mcse_mean, mcse_sd, ess_bulk, ess_tail,
    rhat, label_free; `summary["means[0,1]"]` is one of them. `pandas.DataFrame(list(summary))` is a table.
    """

    def __init__(self, rows: list[dict[str, Any]], text: str) -> None:
        self._rows = rows
        self._text = text

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, name: str) -> dict[str, Any]:
        for row in self._rows:
            if name in (row["name"], row["label"]):
                return row
        raise KeyError(name)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


class Draws:
    """The draws of a run after warm-up, in the data's own units.

    `draws["means"]` is the parameter `means` as an array chains x draws x shape; single quantities, log densities among
    them, have their names too: `draws["means[0,1]"]`, `draws["log_density"]` are chains x draws. A mixture's components
    are numbered so that all draws agree; `chain(i)` has them as they were sampled.
    """

    def __init__(self, draws: _emomc.Draws) -> None:
        self._draws = draws
        self._arrays = {name: (shape, quantities) for name, shape, quantities, *_ in draws.arrays}
        self._quantities = {name: q for q, name in enumerate(draws.names)}

    @property
    def num_chains(self) -> int:
        """The number of chains."""
        return self._draws.num_chains

    @property
    def num_draws(self) -> int:
        """The number of draws of each chain."""
        return self._draws.num_draws

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return self._draws.finished

    @property
    def ended_by(self) -> str:
        """Why the run ended before its last draw: "converged", "ess", "seconds"; "": it did not."""
        return self._draws.ended_by

    @property
    def backend(self) -> str:
        """ "reference", "cpu" or "cuda"; "" where it is not known."""
        return self._draws.backend

    @property
    def warnings(self) -> list[str]:
        """About the data and the starts."""
        return self._draws.warnings

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the parameters and of derived quantities, by name."""
        return {name: tuple(shape) for name, (shape, _) in self._arrays.items()}

    @property
    def names(self) -> list[str]:
        """All quantities: log densities, elements of parameters, derived and label-free quantities."""
        return self._draws.names

    def __getitem__(self, name: str) -> _Floats:
        values: _Floats = self._draws.values
        if name in self._arrays:
            shape, quantities = self._arrays[name]
            chosen = np.moveaxis(values[quantities], 0, -1)
            return np.ascontiguousarray(chosen.reshape(chosen.shape[:2] + tuple(shape)))
        if name in self._quantities:
            return np.asarray(values[self._quantities[name]])
        raise KeyError(f"{name}; there are: {', '.join(self._arrays)}")

    def __contains__(self, name: object) -> bool:
        return name in self._arrays or name in self._quantities

    def __repr__(self) -> str:
        state = "" if self.finished else ", interrupted"
        return f"emomc.Draws({self.num_chains} chains, {self.num_draws} draws each{state}: {', '.join(self._arrays)})"

    def chain(self, index: int) -> dict[str, NDArray[Any]]:
        """One chain as it was sampled: steps [draws], theta [draws x parameters], log_prior and log_likelihood [draws].

        Components have the numbers that they had in the chain.
        """
        if not 0 <= index < self.num_chains:
            raise IndexError(f"chain {index}; there are {self.num_chains}")
        steps, theta, log_prior, log_likelihood = self._draws.chain(index)
        return {"steps": steps, "theta": theta, "log_prior": log_prior, "log_likelihood": log_likelihood}

    def summary(self, patterns: str | Sequence[str] = (), *, rows: int = 40) -> Summary:
        """The summary of the quantities that match shell globs, such as "means*"; of all, where there are none.

        As text it has at most `rows` rows.
        """
        chosen = [patterns] if isinstance(patterns, str) else list(patterns)
        return Summary(self._draws.summary_rows(chosen), self._draws.summary_text(chosen, rows))

    def diagnose(self) -> list[Finding]:
        """What is wrong with the run, the worst first."""
        return [Finding(*finding) for finding in self._draws.findings()]

    @property
    def trusted(self) -> bool:
        """Whether `diagnose` finds no problem."""
        return all(finding.severity != "problem" for finding in self.diagnose())

    def _groups(self) -> tuple[dict[str, dict[str, _Floats]], dict[str, list[str]], dict[str, list[Any]]]:
        """Groups of ArviZ, and names and coordinates of dimensions."""
        posterior = {name: self[name] for name in self._arrays}
        dims: dict[str, list[str]] = {}
        coords: dict[str, list[Any]] = {}
        columns = self._draws.columns
        for name, shape, _, component, features in self._draws.arrays:
            axes: list[str] = []
            for axis, length in enumerate(shape):
                if axis == component:
                    axes.append("component")
                    coords["component"] = list(range(length))
                elif axis in features and len(columns) == length:
                    axes.append("column" if "column" not in axes else "column_2")
                    coords[axes[-1]] = list(columns)
                else:
                    axes.append(f"{name}_dim_{axis}")
            dims[name] = axes
        values = self._draws.values
        statistics = {"lp": np.array(values[0])}
        for name, array in self._draws.statistics.items():
            statistics[name] = array.astype(bool) if name == "diverging" else array
        groups = {"posterior": posterior, "sample_stats": statistics}
        if "log_prior" in self:
            groups["log_prior"] = {"log_prior": np.array(self["log_prior"])}
        return groups, dims, coords

    def to_inferencedata(self) -> arviz.InferenceData:
        """An InferenceData of ArviZ 0.x: groups posterior, sample_stats and log_prior, chains x draws x shape.

        Raises ImportError without ArviZ, or where it is 1.0 or newer: then use to_datatree.
        """
        import arviz

        if not hasattr(arviz, "InferenceData"):
            raise ImportError("this ArviZ has no InferenceData; use to_datatree()")
        groups, dims, coords = self._groups()
        log_prior = groups.pop("log_prior", None)
        data: arviz.InferenceData = arviz.from_dict(
            posterior=groups["posterior"], sample_stats=groups["sample_stats"], dims=dims, coords=coords
        )
        if log_prior is not None:
            cast(Any, data).add_groups({"log_prior": log_prior})
        return data

    def to_datatree(self) -> Any:
        """A DataTree of xarray with the groups of to_inferencedata, as ArviZ 1.x has it.

        Raises ImportError without arviz_base, a part of ArviZ 1.x.
        """
        from_dict = importlib.import_module("arviz_base").from_dict

        groups, dims, coords = self._groups()
        return from_dict(groups, dims=dims, coords=coords)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during sample(). `draws` are those so far; None: the run was in its warm-up."""

    def __init__(self, draws: Draws | None) -> None:
        super().__init__("sampling was interrupted")
        self.draws = draws


def summary(draws: Draws, patterns: str | Sequence[str] = ()) -> Summary:
    """Draws.summary."""
    return draws.summary(patterns)


def diagnose(draws: Draws) -> list[Finding]:
    """Draws.diagnose."""
    return draws.diagnose()


def read_run(directory: str | os.PathLike[str]) -> Draws:
    """The draws of a run directory that `emomc run` has written, also while it runs.

    Derived quantities of likelihoods of your own are not in its files and are left out; `emomc export --format netcdf`
    has them. Raises InputError where there is no run, or its files are damaged.
    """
    path = os.fspath(directory)
    manifest: dict[str, Any] = {}
    try:
        with open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
    except (OSError, ValueError):
        pass  # the chains can be read without it
    if manifest.get("kind", "run") != "run":
        raise _emomc.InputError(f"{path}: the chains of many posteriors; read_run reads runs of emomc run")
    seconds = manifest.get("seconds", {})
    return Draws(
        _emomc.read_run(
            path,
            exchangeable=bool(manifest.get("exchangeable_components", not manifest.get("order"))),
            columns=[str(name) for name in manifest.get("data", {}).get("columns", [])],
            ensemble=bool(manifest.get("ensemble", False)),
            superchains=int(manifest.get("superchains", 0)),
            warmup_seconds=seconds.get("warmup"),
            sampling_seconds=seconds.get("sampling"),
            status=str(manifest.get("status", "")),
        )
    )

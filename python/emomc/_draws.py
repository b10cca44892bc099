"""Draws of a run, with their summary and their diagnosis."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, KeysView, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc
from ._arviz import groups_of
from ._predict import Predictions, predict
from ._rungs import Evidence, Rungs
from ._same_run import check_model

if TYPE_CHECKING:
    import arviz

    from ._model import _Density

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """A note, a warning or a problem that `diagnose` reports about a run.

    >>> import emomc
    >>> print(emomc.Finding("problem", "rhat", "R-hat of m is 1.3", "let the run go on"))
    problem: R-hat of m is 1.3
      let the run go on
    """

    severity: str  #: "note", "warning", or "problem" (the draws should not be trusted)
    check: str  #: short name of the check, such as "rhat"
    text: str  #: description of the finding
    advice: str  #: advice on what to do

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}\n  {self.advice}"


class Rows:
    """Base of tables: iteration gives the rows as dictionaries."""

    _rows: list[dict[str, Any]]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class Summary(Rows):
    """Mean, sd, quantiles, Monte Carlo errors, effective sample sizes and R-hat of quantities.

    Iteration gives a dictionary for each quantity, with the keys name, label, mean, sd, q5, q50, q95, mcse_mean,
    mcse_sd, ess_bulk, ess_tail, rhat and label_free. `summary["means[0,1]"]` is the dictionary of one quantity, and
    `pandas.DataFrame(list(summary))` a table of all.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> [row["name"] for row in emomc.sample(model, draws=100, progress=False).summary()]
    ['log_density', 'log_likelihood', 'log_prior', 'm']
    """

    def __init__(self, rows: list[dict[str, Any]], text: str) -> None:
        self._rows = rows
        self._text = text

    def __getitem__(self, name: str) -> dict[str, Any]:
        for row in self._rows:
            if name in (row["name"], row["label"]):
                return row
        raise KeyError(f"{name}; there are: {', '.join(row['name'] for row in self._rows)}")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


class Draws:
    """The draws of a run after warm-up, in the data's own units.

    `draws["means"]` is the parameter `means`, an array chains x draws x shape. Single quantities and log densities are
    arrays chains x draws: `draws["means[0,1]"]`, `draws["log_density"]`. The components of a mixture are numbered so
    that all draws agree; `chain(i)` returns them with the numbers that they had in the chain.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> draws = emomc.sample(model, chains=2, draws=100, warmup=100, progress=False)
    >>> draws["m"].shape, draws.names
    ((2, 100), ['log_density', 'log_likelihood', 'log_prior', 'm'])
    """

    def __init__(self, draws: _emomc.Draws, model: _Density | None = None) -> None:
        self._draws = draws
        self._model = model
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
        """Whether the run reached its end."""
        return self._draws.finished

    @property
    def ended_by(self) -> str:
        """Reason why the run ended before its last draw: "converged", "ess" or "seconds"; "": it did not end early."""
        return self._draws.ended_by

    @property
    def backend(self) -> str:
        """The engine that sampled: "reference", "cpu" or "cuda"; "": the engine is not known."""
        return self._draws.backend

    @property
    def warnings(self) -> list[str]:
        """Warnings about the data and the starts, a sentence each."""
        return self._draws.warnings

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the parameters and of derived quantities, by name."""
        return {name: tuple(shape) for name, (shape, _) in self._arrays.items()}

    @property
    def names(self) -> list[str]:
        """The names of all quantities: log densities, elements of parameters, derived and label-free quantities."""
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

    def keys(self) -> KeysView[str]:
        """The names of the parameters and of derived quantities."""
        return self._arrays.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __repr__(self) -> str:
        state = "" if self.finished else ", interrupted"
        return f"emomc.Draws({self.num_chains} chains, {self.num_draws} draws each{state}: {', '.join(self._arrays)})"

    def chain(self, index: int) -> dict[str, NDArray[Any]]:
        """Returns a chain as it was sampled, as a dictionary of arrays.

        The arrays are steps [draws], theta [draws x parameters], log_prior [draws] and log_likelihood [draws].
        Components have the numbers that they had in the chain. Raises IndexError if there is no such chain.
        """
        if not 0 <= _arguments.integer("index", index, -_arguments.MOST_INT) < self.num_chains:
            raise IndexError(f"chain {index}; there are {self.num_chains}")
        steps, theta, log_prior, log_likelihood = self._draws.chain(index)
        return {"steps": steps, "theta": theta, "log_prior": log_prior, "log_likelihood": log_likelihood}

    def summary(self, patterns: str | Sequence[str] = (), *, rows: int = 40) -> Summary:
        """Returns the summary of the quantities that match shell globs such as "means*"; without globs, of all.

        The text of the summary has at most `rows` rows. Raises InputError if no quantity matches.
        """
        chosen = globs(patterns)
        text = self._draws.summary_text(chosen, _arguments.integer("rows", rows))
        return Summary(self._draws.summary_rows(chosen), text)

    def diagnose(self) -> list[Finding]:
        """Returns what should be known about the run, the worst findings first."""
        return [Finding(*finding) for finding in self._draws.findings()]

    @property
    def trusted(self) -> bool:
        """Whether `diagnose` finds no problem."""
        return all(finding.severity != "problem" for finding in self.diagnose())

    @property
    def directory(self) -> str:
        """The run directory from which the draws are; "": the draws are in memory only."""
        return self._draws.directory

    @property
    def rungs(self) -> Rungs | None:
        """The rungs of a run with tempering; None: the run has no tempering."""
        rungs = self._draws.rungs
        return None if rungs is None else Rungs(*rungs)

    def evidence(self) -> Evidence:
        """Estimates the evidence from the rungs of a run with tempering.

        Raises InputError if the run has no rungs, the last rung is not the prior, or the rungs have fewer than 100
        draws of each chain.
        """
        return Evidence(**self._draws.evidence())

    def log_likelihoods(self, most_draws: int | None = None) -> _Floats:
        """Returns the log likelihood of each row of the data at each draw [chains x draws x rows], in float64.

        With `most_draws`, at most this number of draws is used, at equal distances over all chains, and the shape is
        draws x rows. Raises ValueError if the model of the draws is not known (`read_run` without a model), and
        InputError if the data are on a GPU.
        """
        model = self._known_model()
        most = self.num_chains * self.num_draws
        if most_draws is not None:
            most = _arguments.integer("most_draws", most_draws, 1)
        with model._watched():
            values = model._posterior.row_log_likelihoods(self._draws, most)
        return values if most_draws is not None else values.reshape(self.num_chains, self.num_draws, -1)

    def predict(
        self, data: Any = None, *, quantiles: Sequence[float] = (0.05, 0.5, 0.95), most_draws: int = 1000
    ) -> Predictions:
        """Predicts rows, as `emomc predict` does: the outputs `rows` of a Model, or the components of a mixture.

        Parameters
        ----------
        data
            New rows in a form that Model accepts: a dict or a data frame with at least the columns that the outputs
            read; or an array rows x columns, with the model's columns in their order. None: the rows of the run itself.
        quantiles
            Levels of the quantiles, 0 to 1.
        most_draws
            Maximum number of draws that are used, at equal distances over all chains.

        Returns the outputs by name, each with arrays `mean` and `sd` [rows] and `quantiles` [rows x levels] over draws. A
        mixture has the output "component", the probability of each component, whose arrays `mean` and `sd` are rows x
        components, and `partition`, the best partition of the rows. Components have the numbers of `summary`.

        Draws of `read_run` without a model are predicted with the likelihood that their directory states.

        Raises InputError if the model has no `rows`, a column is missing, the rows are in the memory of a GPU, or an
        output is not finite. Warns (UserWarning) if components of a mixture cannot be told apart.

        >>> import emomc
        >>> model = emomc.Model(data={"x": [0.0, 1, 2, 3], "y": [1.1, 2.9, 5.2, 6.8]}, rows={"expected": "a + b * x"},
        ...                     parameters={"a": emomc.real(), "b": emomc.real()},
        ...                     log_density="normal_lpdf(y, a + b * x, 0.2)",
        ...                     priors={"a": emomc.normal(0, 10), "b": emomc.normal(0, 10)})
        >>> predicted = emomc.sample(model, seed=1, progress=False).predict({"x": [10.0, 20.0]}, quantiles=[0.1, 0.9])
        >>> predicted["expected"].mean.round(0), predicted["expected"].quantiles.shape
        (array([20., 40.]), (2, 2))
        """
        posterior = None if self._model is None else self._model._posterior
        return predict(self._draws, posterior, data, quantiles, most_draws)

    def _known_model(self) -> _Density:
        if self._model is None:
            raise ValueError("the model of these draws is not known; give it to read_run, as in read_run(path, model)")
        return self._model

    def to_inferencedata(
        self,
        *,
        log_likelihood: bool | None = None,
        posterior_predictive: bool | int = False,
        prior_predictive: bool | int = False,
    ) -> arviz.InferenceData:
        """Returns an InferenceData of ArviZ 0.x.

        Its groups are posterior, sample_stats and log_prior (chains x draws x shape). If the model is known and its
        data are on the host, there are also observed_data (the columns that the likelihood is a density of),
        constant_data (the other columns) and log_likelihood (chains x draws x rows). The argument `log_likelihood` sets
        whether log_likelihood is included; None: if it has at most 2e7 values. Dimensions with coordinates are
        component, column, row, and name_dim_0 and so on.

        `posterior_predictive` adds replicates of the columns of observed_data, one for each draw (chains x draws x
        rows). `prior_predictive` adds the group prior, with 1,000 draws from the prior, and replicates for these draws.
        A number in place of True is the number of draws of each chain, at equal distances. True takes as many draws as
        fit into 160 MB; a UserWarning is given if these are not all. Replicates are a function of the run's seed, the
        chain and the draw.

        Raises ImportError if ArviZ is missing, or is 1.0 or newer (use to_datatree then); ValueError if groups of the
        model are requested and the model is not known; InputError if the distribution of the columns is not known
        (`simulate` of Model), if replicates take more than 1 GB, or if groups of the model are requested for data on a
        GPU.
        """
        import arviz

        if int(arviz.__version__.split(".")[0]) >= 1:  # InferenceData is xarray's DataTree in ArviZ 1.x
            raise ImportError(f"ArviZ {arviz.__version__} has no InferenceData of its own; use to_datatree()")
        groups = groups_of(self, log_likelihood, posterior_predictive, prior_predictive)
        log_prior = groups.of.pop("log_prior", None)
        data: arviz.InferenceData = arviz.from_dict(**groups.of, dims=groups.dims, coords=groups.coords)
        if log_prior is not None:
            cast(Any, data).add_groups({"log_prior": log_prior})
        for group, chosen in groups.chosen.items():
            setattr(data, group, data[group].assign_coords(draw=chosen))
        return data

    def to_datatree(
        self,
        *,
        log_likelihood: bool | None = None,
        posterior_predictive: bool | int = False,
        prior_predictive: bool | int = False,
    ) -> Any:
        """Returns a DataTree of xarray with the groups and arguments of to_inferencedata, for ArviZ 1.x.

        Raises ImportError if arviz_base, a part of ArviZ 1.x, is missing; ValueError and InputError as
        to_inferencedata.

        >>> import emomc, importlib.util
        >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
        ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
        >>> draws = emomc.sample(model, chains=2, draws=50, progress=False)
        >>> if importlib.util.find_spec("arviz_base"):
        ...     tree = draws.to_datatree(posterior_predictive=True)
        ...     assert tree["posterior_predictive"]["x"].shape == (2, 50, 3)
        """
        from_dict = importlib.import_module("arviz_base").from_dict

        groups = groups_of(self, log_likelihood, posterior_predictive, prior_predictive)
        tree = from_dict(groups.of, dims=groups.dims, coords=groups.coords)
        for group, chosen in groups.chosen.items():
            tree[group].dataset = tree[group].to_dataset().assign_coords(draw=chosen)
        return tree


class DrawsWarning(UserWarning):
    """Warns that draws should not be trusted, because `diagnose` has found a problem in them.

    >>> import emomc, warnings
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     draws = emomc.sample(model, draws=20, progress=False)
    >>> [issubclass(one.category, emomc.DrawsWarning) for one in caught]
    [True]
    """


class Interrupted(KeyboardInterrupt):
    """Raised when Ctrl-C interrupts sample(). `draws` has the draws so far; None: the run was in its warm-up.

    A run with a directory has written a checkpoint, from which the same call with resume=True continues.

    >>> import emomc
    >>> str(emomc.Interrupted(None))
    'sampling was interrupted'
    """

    def __init__(self, draws: Draws | None, directory: str = "") -> None:
        there = f"; {directory} has a checkpoint, from which the same call with resume=True goes on"
        super().__init__("sampling was interrupted" + (there if directory else ""))
        self.draws = draws


def globs(patterns: str | Sequence[str]) -> list[str]:
    """Returns a list of shell globs. Raises TypeError if `patterns` is no text and no list of texts."""
    given = [patterns] if isinstance(patterns, str) else _arguments.elements("patterns", patterns, "texts")
    return [_arguments.text("patterns", pattern) for pattern in given]


def draws_of(name: str, draws: Any) -> Draws:
    """Returns `draws`. Raises TypeError if they are no Draws."""
    if isinstance(draws, Draws):
        return draws
    fitted = isinstance(getattr(draws, "draws_", None), Draws)
    hint = "; the draws of a mixture are its attribute draws_" if fitted else ""
    raise TypeError(f"{name}: a value of type {type(draws).__name__}; allowed: Draws, as sample and read_run return them{hint}")


def summary(draws: Draws, patterns: str | Sequence[str] = ()) -> Summary:
    """Returns `draws.summary(patterns)`, the summary of the quantities that match shell globs.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> table = emomc.summary(emomc.sample(model, progress=False), "m")
    >>> abs(table["m"]["mean"] - 7 / 3) < 0.1, table["m"]["rhat"] < 1.01
    (True, True)
    """
    return draws_of("draws", draws).summary(patterns)


def diagnose(draws: Draws) -> list[Finding]:
    """Returns `draws.diagnose()`: what should be known about the run, the worst findings first.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> [f.check for f in emomc.diagnose(emomc.sample(model, draws=20, progress=False)) if f.severity == "problem"]
    ['ess']
    """
    return draws_of("draws", draws).diagnose()


def read_run(directory: str | os.PathLike[str], model: _Density | None = None) -> Draws:
    """Reads the draws of a run directory that `sample(directory=...)` or `emomc run` writes, also during the run.

    `model` is the model of the run, which log likelihoods of rows and ArviZ's groups of the data require. It can have
    other outputs (`rows`) than the model that was sampled.

    Raises InputError if the directory has no run, its files are damaged, or there are no draws yet; and if the model
    has other parameters, other data (by columns, number of rows and SHA-256) or another likelihood than the run.

    >>> import emomc, tempfile
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> folder = tempfile.mkdtemp() + "/run"
    >>> draws = emomc.sample(model, directory=folder, progress=False)
    >>> bool((emomc.read_run(folder)["m"] == draws["m"]).all())
    True
    """
    if model is not None and not hasattr(model, "_posterior"):
        raise TypeError(f"model: a value of type {type(model).__name__}; allowed: a Model, or the posterior of a mixture")
    where = _arguments.path("directory", directory)
    draws = _emomc.read_run(where)
    if model is not None:
        check_model(where, draws, model)
    return Draws(draws, model)

"""Converts draws to the groups of ArviZ's schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc

if TYPE_CHECKING:
    from ._draws import Draws

#: Largest number of values (draws x rows) for which the group log_likelihood is added by default: 160 MB.
_MOST_LOG_LIKELIHOODS = 20_000_000


@dataclass
class Groups:
    """Groups of ArviZ with their variables, dimensions and coordinates."""

    of: dict[str, dict[str, Any]] = field(default_factory=dict)  #: arrays by the names of their group and variable
    dims: dict[str, list[str]] = field(default_factory=dict)  #: dimensions of each variable, besides chain and draw
    coords: dict[str, list[Any]] = field(default_factory=dict)  #: coordinates of each dimension
    chosen: dict[str, list[int]] = field(default_factory=dict)  #: numbers of the draws of a thinned group


def groups_of(
    draws: Draws, log_likelihood: bool | None, posterior_predictive: bool | int, prior_predictive: bool | int
) -> Groups:
    """Returns the groups of draws; the arguments and exceptions are described in Draws.to_inferencedata."""
    groups = Groups()
    _add_parameters("posterior", draws, groups)
    statistics = {"lp": np.array(draws._draws.values[0])}
    for name, array in draws._draws.statistics.items():
        statistics[name] = array.astype(bool) if name == "diverging" else array
    groups.of["sample_stats"] = statistics
    if "log_prior" in draws:
        groups.of["log_prior"] = {"log_prior": np.array(draws["log_prior"])}
    asked = log_likelihood or posterior_predictive is not False or prior_predictive is not False
    if draws._model is None and not asked:
        return groups
    posterior = draws._known_model()._posterior
    if posterior.gpu is not None:  # the rows of a GPU are not copied to the host
        if log_likelihood:
            draws.log_likelihoods(1)  # raises
        if asked:
            posterior.posterior_predictive(draws._draws, 1)  # raises
        return groups
    rows = posterior.data
    groups.coords["row"] = list(range(len(rows)))
    if log_likelihood is None:
        log_likelihood = draws.num_chains * draws.num_draws * len(rows) <= _MOST_LOG_LIKELIHOODS
    if log_likelihood:
        groups.of["log_likelihood"] = {"log_likelihood": draws.log_likelihoods()}
        groups.dims["log_likelihood"] = ["row"]
    variables = _add_data(posterior, rows, groups)
    if posterior_predictive is not False:
        most = _draws_of_each("posterior_predictive", posterior_predictive)
        drawn = posterior.posterior_predictive(draws._draws, most)
        _add_predictive("posterior_predictive", drawn, variables, groups)
        if most is None and len(drawn[1]) < drawn[2]:
            _arguments.warn(
                f"posterior_predictive has {len(drawn[1])} of {drawn[2]} draws of each chain, as many as take 160 MB; "
                f"posterior_predictive={drawn[2]} takes all"
            )
    if prior_predictive is not False:
        prior, drawn = posterior.prior_predictive(draws._draws, _draws_of_each("prior_predictive", prior_predictive))
        _add_parameters("prior", type(draws)(prior), groups)
        _add_predictive("prior_predictive", drawn, variables, groups)
    _make_integers(groups)
    return groups


def _add_parameters(group: str, draws: Draws, groups: Groups) -> None:
    columns = draws._draws.columns
    for name, shape, _, component, features in draws._draws.arrays:
        axes: list[str] = []
        for axis, length in enumerate(shape):
            if axis == component:
                axes.append("component")
                groups.coords["component"] = list(range(length))
            elif axis in features and len(columns) == length:
                axes.append("column" if "column" not in axes else "column_2")
                groups.coords[axes[-1]] = list(columns)
            else:
                axes.append(f"{name}_dim_{axis}")
                groups.coords[axes[-1]] = list(range(length))
        groups.dims[name] = axes
    groups.of[group] = {name: draws[name] for name in draws.parameters}


def _add_data(posterior: _emomc.Posterior, rows: Any, groups: Groups) -> dict[str, str]:
    """Adds the columns of the data to their groups, and returns the name of the variable of each column.

    Columns that the likelihood is a density of are in the group observed_data, the others in constant_data.
    """
    taken = {"chain", "draw", *groups.dims, *groups.coords}
    variables: dict[str, str] = {}
    observed = posterior.observed
    for j, name in enumerate(posterior.columns):
        variable = name
        while variable in taken:  # the name is that of a dimension or of another variable
            variable += "_"
        taken.add(variable)
        variables[name] = variable
        groups.dims[variable] = ["row"]
        group = "observed_data" if name in observed else "constant_data"
        groups.of.setdefault(group, {})[variable] = rows[:, j]
    return variables


def _add_predictive(group: str, drawn: _emomc.Predictive, variables: dict[str, str], groups: Groups) -> None:
    columns, chosen, _, not_finite, values = drawn
    groups.of[group] = {variables[name]: values[v] for v, name in enumerate(columns)}
    groups.chosen[group] = chosen
    if not_finite:
        _arguments.warn(
            f"{group}: {not_finite} of {values.shape[1] * values.shape[2]} replicates have values that are no finite "
            "numbers, since a distribution does not allow its arguments there or they are too large"
        )


def _make_integers(groups: Groups) -> None:
    """Converts columns to integers if their data and all their replicates are whole numbers.

    ArviZ treats variables of integers as counts.
    """
    replicated = [groups.of[name] for name in ("posterior_predictive", "prior_predictive") if name in groups.of]
    for name in replicated[0] if replicated else ():
        places = [groups.of["observed_data"], *replicated]
        if all(_are_whole(group[name]) for group in places):
            for group in places:
                group[name] = group[name].astype(np.int64)


def _are_whole(values: NDArray[np.float64]) -> bool:
    return bool((np.abs(values) <= 2**53).all() and (np.floor(values) == values).all())


def _draws_of_each(argument: str, value: bool | int) -> int | None:
    if value is True:
        return None
    try:
        return _arguments.integer(argument, value, 1)
    except (TypeError, _emomc.InputError) as error:
        raise type(error)(f"{argument}: {value!r}; allowed: True, False, or 1 or more draws of each chain") from None

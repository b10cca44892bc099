"""Components of anyone's draws, numbered so that draws agree."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _emomc
from ._draws import Draws


def relabel(draws: Any, components: str = "component", *, group: str = "posterior") -> Any:
    """Renumbers the components of a mixture's draws so that all draws of all chains agree.

    The likelihood of a mixture does not change where its components are renumbered, so that chains of any program may
    number them differently, or renumber them on their way; means over draws are then means of nothing. All parameters
    with the dimension `components` are matched together: numbers get a mean and a variance for each element of the
    parameters, and each draw the permutation of largest density (Stephens 1997, "Bayesian methods for mixtures of
    normal distributions", chapter 3; the Hungarian method finds the permutation). Numbers increase with the mean of
    the first such parameter's first element. Draws of emomc are matched already.

    Parameters
    ----------
    draws
        An InferenceData of ArviZ, a DataTree or a Dataset of xarray; or a dict of arrays chains x draws x ..., in which
        `components` is an axis that all arrays with more than two axes have as their third.
    components
        The name of the dimension.
    group
        The group of an InferenceData or DataTree that has the parameters.

    Returns
    -------
    A copy of `draws` with other numbers. Arrays without the dimension are as they were.

    Raises
    ------
    ValueError
        where there is no such dimension, or a number is not finite.

    >>> import emomc, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> means = rng.normal([0.0, 5.0], 0.1, size=(2, 100, 2))
    >>> means[1] = means[1, :, ::-1]                      # the second chain has the other numbers
    >>> emomc.relabel({"means": means})["means"].mean(axis=1).round(0) + 0
    array([[0., 5.],
           [0., 5.]])
    """
    if isinstance(draws, Draws):
        return draws
    if isinstance(draws, Mapping) and all(isinstance(value, np.ndarray) for value in draws.values()):
        dims = {name: ["chain", "draw"] + [components][: array.ndim - 2] for name, array in draws.items()}
        dims = {name: axes + [str(i) for i in range(draws[name].ndim - len(axes))] for name, axes in dims.items()}
        return _relabelled({name: np.asarray(array) for name, array in draws.items()}, dims, components)
    if hasattr(draws, "data_vars") and not hasattr(draws, "children"):
        return _of_dataset(draws, components)
    parts = _names_of_groups(draws)
    if group not in parts:
        raise ValueError(f"draws: there is no group {group}; allowed: an InferenceData, a DataTree, a Dataset, or a dict")
    if hasattr(draws, "children"):  # a DataTree
        tree = draws.copy()
        tree[group] = type(draws)(dataset=_of_dataset(draws[group].to_dataset(), components))
        return tree
    result = copy.copy(draws)
    setattr(result, group, _of_dataset(draws[group], components))
    return result


def _names_of_groups(draws: Any) -> list[str]:
    if hasattr(draws, "children"):
        return list(draws.children)
    groups = getattr(draws, "groups", None)
    return list(groups()) if callable(groups) else []


def _of_dataset(data: Any, components: str) -> Any:
    arrays = {str(name): np.asarray(data[name].values) for name in data.data_vars}
    dims = {name: [str(axis) for axis in data[name].dims] for name in arrays}
    changed = _relabelled(arrays, dims, components)
    return data.assign({name: (data[name].dims, changed[name], data[name].attrs) for name in arrays})


def _relabelled(arrays: dict[str, Any], dims: dict[str, list[str]], components: str) -> dict[str, Any]:
    named = [name for name, axes in dims.items() if components in axes]
    if not named:
        raise ValueError(f"components: no parameter has a dimension {components}")
    moved: dict[str, Any] = {}  # draws x components x elements
    for name in named:
        axes = dims[name]
        if axes[:2] != ["chain", "draw"]:
            raise ValueError(f"{name}: dimensions {', '.join(axes)}; allowed: chain, draw, and others")
        array = np.moveaxis(arrays[name], axes.index(components), 2)
        moved[name] = array.reshape(array.shape[0] * array.shape[1], array.shape[2], -1)
    counts = {name: array.shape[1] for name, array in moved.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"{components}: lengths {counts}; allowed: one length")
    # Elements that repeat others, as those of symmetric matrices do, would count twice.
    features = np.concatenate([array.astype(np.float64) for array in moved.values()], axis=2)
    features = features[:, :, np.sort(np.unique(features, axis=2, return_index=True)[1])]
    permutation, converged = _emomc.match_features(
        np.ascontiguousarray(features).ravel(), len(features), counts[named[0]], features.shape[2]
    )
    if not converged:
        raise RuntimeError("the numbering has not settled after 100 rounds")
    result = dict(arrays)
    for name in named:
        axis = dims[name].index(components)
        array = np.moveaxis(arrays[name], axis, 2)
        shape = array.shape
        flat = np.take_along_axis(moved[name], permutation[:, :, None].astype(np.int64), axis=1)
        result[name] = np.ascontiguousarray(np.moveaxis(flat.reshape(shape), 2, axis))
    return result

"""Renumbers the components in draws of any program, so that draws agree."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from . import _emomc
from ._draws import Draws


def relabel(draws: Any, components: str = "component", *, group: str = "posterior") -> Any:
    """Renumbers the components of a mixture's draws so that all draws of all chains agree.

    The likelihood of a mixture does not change if its components are renumbered. Chains of any program can therefore
    number the components differently, or change the numbers during the run, and means over such draws have no meaning.
    All parameters with the dimension `components` are matched together: for each component number, a mean and a
    variance of each element of the parameters are estimated, and each draw receives the permutation with the largest
    density (Stephens 1997, "Bayesian methods for mixtures of normal distributions", chapter 3; the Hungarian method
    finds the permutation). Components are numbered by increasing mean of the first element of the first such parameter.
    Draws of emomc are returned as they are, because they are already matched.

    Parameters
    ----------
    draws
        An InferenceData of ArviZ, a DataTree or a Dataset of xarray, or a dict of arrays chains x draws x ... In a
        dict, the third axis of every array with more than two axes is the axis of components.
    components
        Name of the dimension of components.
    group
        Name of the group of an InferenceData or DataTree that contains the parameters.

    Returns
    -------
    A copy of `draws` with renumbered components. Arrays without the dimension are not changed.

    Raises
    ------
    ValueError
        if there is no such group or dimension, the dimension has different lengths, or a number is not finite.
    RuntimeError
        if the numbers still change after 100 rounds.

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
    if isinstance(draws, dict):
        arrays = {name: np.asarray(array) for name, array in draws.items()}
        dims = {name: ["chain", "draw"] + [components][: array.ndim - 2] for name, array in arrays.items()}
        dims = {name: axes + [str(i) for i in range(arrays[name].ndim - len(axes))] for name, axes in dims.items()}
        return _relabelled(arrays, dims, components)
    if hasattr(draws, "data_vars") and not hasattr(draws, "children"):
        return _of_dataset(draws, components)
    parts = _names_of_groups(draws)
    if group not in parts:
        what = f"there is no group {group}" if parts else f"a value of type {type(draws).__name__}"
        raise (ValueError if parts else TypeError)(
            f"draws: {what}; allowed: an InferenceData, a DataTree, a Dataset, or a dict of arrays"
        )
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
    # Elements that are equal in all draws, as in symmetric matrices, must not be counted twice.
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

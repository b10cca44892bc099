"""Priors of parameters, with the families and arguments of configurations (docs/statistics.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import ArrayLike

from . import _arguments, _emomc

Argument = Union["Prior", ArrayLike]
#: Shape and row-major values of an argument; None: the argument has a prior of its own.
ArgumentTuple = tuple[list[int], list[float]] | None
PriorTuple = tuple[str, list[ArgumentTuple]]


@dataclass(frozen=True)
class Prior:
    """A family of distributions with its arguments.

    Each argument is a number, or an array that is broadcast against the parameter: one number for each element,
    component or column, or an array components x columns. Locations and scales of some families can be priors
    themselves; these arguments are then sampled, one for each column.

    >>> import emomc
    >>> emomc.normal(emomc.normal(0, 5), 2).flat("m")
    {'m': ('normal', [None, ([], [2.0])]), 'm.mean': ('normal', [([], [0.0]), ([], [5.0])])}
    """

    family: str
    arguments: dict[str, Argument]

    def flat(self, name: str) -> dict[str, PriorTuple]:
        """Returns this prior by the parameter's name, and the priors of its arguments by `name.argument`.

        Raises InputError or TypeError if the family or an argument is not allowed.
        """
        own: list[ArgumentTuple] = []
        result: dict[str, PriorTuple] = {name: (self.family, own)}
        for argument in _argument_names(name, self):
            value = self.arguments[argument]
            if isinstance(value, Prior):
                own.append(None)
                result |= value.flat(f"{name}.{argument}")
                continue
            array = np.asarray(value)
            if array.dtype.kind not in "biuf":
                raise TypeError(f"priors[{name!r}]: {argument} is {value!r}; allowed: a number, an array of numbers, or a prior")
            array = array.astype(np.float64)
            if np.isnan(array).any():
                raise _emomc.InputError(f"priors[{name!r}]: {argument} is NaN; allowed: numbers")
            own.append((list(array.shape), array.ravel().tolist()))
        return result


def _argument_names(name: str, prior: Prior) -> list[str]:
    """Returns the names of a prior's arguments in the order of its family. Raises InputError for others."""
    names = _emomc.prior_arguments(_arguments.text(f"priors[{name!r}]", prior.family))
    if set(names) != set(prior.arguments):
        raise _emomc.InputError(
            f"priors[{name!r}]: {prior.family} with arguments {', '.join(prior.arguments)}; allowed: {', '.join(names)}"
        )
    return names


def flat_priors(priors: dict[str, Prior]) -> dict[str, PriorTuple]:
    """Returns the priors of all parameters and of arguments. Raises TypeError if a value is not a Prior."""
    result: dict[str, PriorTuple] = {}
    for name, prior in priors.items():
        if not isinstance(prior, Prior):
            raise TypeError(f"priors[{name!r}] is no prior; write one such as emomc.normal(0, 10)")
        result |= prior.flat(name)
    return result


def normal(mean: Argument, sd: Argument) -> Prior:
    """Normal prior with this mean and standard deviation.

    >>> import emomc
    >>> emomc.normal(0, 10)
    Prior(family='normal', arguments={'mean': 0, 'sd': 10})
    """
    return Prior("normal", {"mean": mean, "sd": sd})


def half_normal(sd: Argument) -> Prior:
    """Half-normal prior: a normal with mean 0 and standard deviation `sd`, restricted to values above 0.

    >>> import emomc
    >>> emomc.half_normal(5)
    Prior(family='half_normal', arguments={'sd': 5})
    """
    return Prior("half_normal", {"sd": sd})


def student_t(df: Argument, mean: Argument, scale: Argument) -> Prior:
    """Student's t prior with `df` degrees of freedom.

    >>> import emomc
    >>> emomc.student_t(4, 0, 2.5)
    Prior(family='student_t', arguments={'df': 4, 'mean': 0, 'scale': 2.5})
    """
    return Prior("student_t", {"df": df, "mean": mean, "scale": scale})


def cauchy(location: Argument, scale: Argument) -> Prior:
    """Cauchy prior, restricted to values above 0 if the parameter is positive.

    >>> import emomc
    >>> emomc.cauchy(0, 1)
    Prior(family='cauchy', arguments={'location': 0, 'scale': 1})
    """
    return Prior("cauchy", {"location": location, "scale": scale})


def lognormal(meanlog: Argument, sdlog: Argument) -> Prior:
    """Lognormal prior: the logarithm of the parameter is normal with this mean and standard deviation.

    >>> import emomc
    >>> emomc.lognormal(0, 1)
    Prior(family='lognormal', arguments={'meanlog': 0, 'sdlog': 1})
    """
    return Prior("lognormal", {"meanlog": meanlog, "sdlog": sdlog})


def gamma(shape: Argument, rate: Argument) -> Prior:
    """Gamma prior with mean shape / rate.

    >>> import emomc
    >>> emomc.gamma(2, 0.5)
    Prior(family='gamma', arguments={'shape': 2, 'rate': 0.5})
    """
    return Prior("gamma", {"shape": shape, "rate": rate})


def inverse_gamma(shape: Argument, scale: Argument) -> Prior:
    """Inverse gamma prior: the reciprocal of the parameter has a gamma distribution with this shape and rate `scale`.

    >>> import emomc
    >>> emomc.inverse_gamma(3, 1)
    Prior(family='inverse_gamma', arguments={'shape': 3, 'scale': 1})
    """
    return Prior("inverse_gamma", {"shape": shape, "scale": scale})


def exponential(rate: Argument) -> Prior:
    """Exponential prior with mean 1 / rate.

    >>> import emomc
    >>> emomc.exponential(1)
    Prior(family='exponential', arguments={'rate': 1})
    """
    return Prior("exponential", {"rate": rate})


def uniform(lower: Argument, upper: Argument) -> Prior:
    """Uniform prior between two bounds.

    >>> import emomc
    >>> emomc.uniform(-1, 1)
    Prior(family='uniform', arguments={'lower': -1, 'upper': 1})
    """
    return Prior("uniform", {"lower": lower, "upper": upper})


def von_mises(mean: Argument, concentration: Argument) -> Prior:
    """Von Mises prior of an angle in radians; with concentration 0, all angles are equally probable.

    >>> import emomc
    >>> emomc.von_mises(0, 0)
    Prior(family='von_mises', arguments={'mean': 0, 'concentration': 0})
    """
    return Prior("von_mises", {"mean": mean, "concentration": concentration})


def beta(a: Argument, b: Argument) -> Prior:
    """Beta prior of a parameter between 0 and 1.

    >>> import emomc
    >>> emomc.beta(1, 1)
    Prior(family='beta', arguments={'a': 1, 'b': 1})
    """
    return Prior("beta", {"a": a, "b": b})


def dirichlet(a: Argument) -> Prior:
    """Dirichlet prior of weights, with one concentration for all weights or one for each weight.

    >>> import emomc
    >>> emomc.dirichlet([1, 2])
    Prior(family='dirichlet', arguments={'a': [1, 2]})
    """
    return Prior("dirichlet", {"a": a})


def lkj(eta: Argument) -> Prior:
    """LKJ prior of correlation matrices (Lewandowski, Kurowicka and Joe 2009).

    The density is proportional to the determinant to the power eta - 1.

    >>> import emomc
    >>> emomc.lkj(2)
    Prior(family='lkj', arguments={'eta': 2})
    """
    return Prior("lkj", {"eta": eta})


def fixed(value: Argument) -> Prior:
    """Fixes the parameter at this value, so that it is not sampled.

    >>> import emomc
    >>> emomc.fixed(1.5)
    Prior(family='fixed', arguments={'value': 1.5})
    """
    return Prior("fixed", {"value": value})

"""Priors of parameters. Families and arguments are those of configurations (docs/statistics.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import ArrayLike

Argument = Union["Prior", ArrayLike]
#: Shape and values, row-major; None: the argument has a prior of its own.
ArgumentTuple = tuple[list[int], list[float]] | None
PriorTuple = tuple[str, list[ArgumentTuple]]


@dataclass(frozen=True)
class Prior:
    """A family with its arguments.

    Each argument is a number, or an array that is broadcast against the parameter: one number for each element,
    component or column, or components x columns. Locations and scales of some families may be priors themselves; they
    are then sampled, one for each column.
    """

    family: str
    arguments: dict[str, Argument]

    def flat(self, name: str) -> dict[str, PriorTuple]:
        """This prior as that of the parameter `name`, and those of its arguments as `name.argument`."""
        own: list[ArgumentTuple] = []
        result: dict[str, PriorTuple] = {name: (self.family, own)}
        for argument, value in self.arguments.items():
            if isinstance(value, Prior):
                own.append(None)
                result |= value.flat(f"{name}.{argument}")
                continue
            array = np.asarray(value, dtype=np.float64)
            own.append((list(array.shape), array.ravel().tolist()))
        return result


def flat_priors(priors: dict[str, Prior]) -> dict[str, PriorTuple]:
    """The priors of all parameters, those of arguments among them."""
    result: dict[str, PriorTuple] = {}
    for name, prior in priors.items():
        if not isinstance(prior, Prior):
            raise TypeError(f"priors[{name!r}] is no prior; write one such as emomc.normal(0, 10)")
        result |= prior.flat(name)
    return result


def normal(mean: Argument, sd: Argument) -> Prior:
    """Normal with this mean and standard deviation."""
    return Prior("normal", {"mean": mean, "sd": sd})


def half_normal(sd: Argument) -> Prior:
    """A normal of mean 0 and standard deviation `sd`, above 0."""
    return Prior("half_normal", {"sd": sd})


def student_t(df: Argument, mean: Argument, scale: Argument) -> Prior:
    """Student's t with `df` degrees of freedom."""
    return Prior("student_t", {"df": df, "mean": mean, "scale": scale})


def cauchy(location: Argument, scale: Argument) -> Prior:
    """Cauchy; of a positive parameter its part above 0."""
    return Prior("cauchy", {"location": location, "scale": scale})


def lognormal(meanlog: Argument, sdlog: Argument) -> Prior:
    """The logarithm is normal with this mean and standard deviation."""
    return Prior("lognormal", {"meanlog": meanlog, "sdlog": sdlog})


def gamma(shape: Argument, rate: Argument) -> Prior:
    """Gamma with mean shape / rate."""
    return Prior("gamma", {"shape": shape, "rate": rate})


def inverse_gamma(shape: Argument, scale: Argument) -> Prior:
    """The reciprocal has a gamma distribution with this shape and the rate `scale`."""
    return Prior("inverse_gamma", {"shape": shape, "scale": scale})


def exponential(rate: Argument) -> Prior:
    """Exponential with mean 1 / rate."""
    return Prior("exponential", {"rate": rate})


def uniform(lower: Argument, upper: Argument) -> Prior:
    """Uniform between two bounds."""
    return Prior("uniform", {"lower": lower, "upper": upper})


def von_mises(mean: Argument, concentration: Argument) -> Prior:
    """Of an angle, in radians; concentration 0: all angles alike."""
    return Prior("von_mises", {"mean": mean, "concentration": concentration})


def beta(a: Argument, b: Argument) -> Prior:
    """Beta, of a parameter between 0 and 1."""
    return Prior("beta", {"a": a, "b": b})


def dirichlet(a: Argument) -> Prior:
    """Dirichlet, of weights; one concentration for all, or one for each weight."""
    return Prior("dirichlet", {"a": a})


def lkj(eta: Argument) -> Prior:
    """Of correlations (Lewandowski, Kurowicka and Joe 2009): the determinant to the power eta - 1."""
    return Prior("lkj", {"eta": eta})


def fixed(value: Argument) -> Prior:
    """Not sampled: the parameter has this value."""
    return Prior("fixed", {"value": value})

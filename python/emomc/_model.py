"""Models whose likelihood is an expression, or a Python function, of columns and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arguments, _emomc
from ._data import columns_of
from ._failures import Watch
from ._function import RowFunction, compile_rows
from ._priors import Prior, flat_priors

Order = Literal["", "increasing", "decreasing"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of the likelihood: a number (length 0), or a list of `length` numbers.

    Raises ValueError if the length or the order is not allowed.

    >>> import emomc
    >>> emomc.real() == emomc.Parameter("real")
    True
    """

    support: Literal["real", "positive", "unit_interval", "simplex", "circular"]
    length: int = 0
    order: Order = ""

    def __post_init__(self) -> None:
        if _arguments.integer("length", self.length, -_arguments.MOST_INT, _arguments.MOST_INT) < 0:
            raise ValueError(f"length: {self.length}; allowed: 0, a number, or the length of a list")
        if self.support == "simplex" and self.length < 2:
            raise ValueError("a simplex is a list of 2 or more weights; write its length: emomc.simplex(3)")
        if self.order and (self.length == 0 or self.support in ("simplex", "circular")):
            raise ValueError("an order is of a list of real, positive or unit numbers; write its length")


def real(length: int = 0, *, order: Order = "") -> Parameter:
    """Declares a real parameter, or a list of `length` real parameters.

    >>> import emomc
    >>> emomc.real(3)
    Parameter(support='real', length=3, order='')
    """
    return Parameter("real", length, order)


def positive(length: int = 0, *, order: Order = "") -> Parameter:
    """Declares a parameter above 0, or a list of `length` such parameters.

    >>> import emomc
    >>> emomc.positive(2, order="increasing")
    Parameter(support='positive', length=2, order='increasing')
    """
    return Parameter("positive", length, order)


def unit(length: int = 0, *, order: Order = "") -> Parameter:
    """Declares a parameter between 0 and 1, or a list of `length` such parameters.

    >>> import emomc
    >>> emomc.unit()
    Parameter(support='unit_interval', length=0, order='')
    """
    return Parameter("unit_interval", length, order)


def simplex(length: int) -> Parameter:
    """Declares a list of `length` weights that sum to 1; `length` is at least 2.

    >>> import emomc
    >>> emomc.simplex(3)
    Parameter(support='simplex', length=3, order='')
    """
    return Parameter("simplex", length)


def angle(length: int = 0) -> Parameter:
    """Declares an angle in radians, in the interval (-pi, pi] with joined ends, or a list of `length` angles.

    >>> import emomc
    >>> emomc.angle()
    Parameter(support='circular', length=0, order='')
    """
    return Parameter("circular", length)


@dataclass(frozen=True)
class Linear:
    """A linear predictor: intercept + sum of coefficients[j] x columns[j] + offset.

    `intercept` and `coefficients` are the names of parameters that the predictor declares: a number, and a list with
    one number for each column. Without `intercept` there is no such parameter. `offset` is an expression. Raises
    TypeError if `columns` is a text instead of a list, or another argument is no text.

    >>> import emomc
    >>> model = emomc.Model(data={"y": [0.0, 1, 3], "x": [0.0, 1, 2]}, log_density="normal_lpdf(y, eta, 1)",
    ...                     linear={"eta": emomc.Linear(columns=["x"], coefficients="b", intercept="a")},
    ...                     priors={"a": emomc.normal(0, 5), "b": emomc.normal(0, 5)})
    >>> model.names
    ['a', 'b[0]']
    """

    columns: Sequence[str]
    coefficients: str
    intercept: str = ""
    offset: str = ""

    def __post_init__(self) -> None:
        for i, column in enumerate(_arguments.elements("columns", self.columns, "names of columns")):
            _arguments.text(f"columns[{i}]", column)
        for name in ("coefficients", "intercept", "offset"):
            _arguments.text(name, getattr(self, name))


@dataclass(frozen=True)
class GradientCheck:
    """A comparison of a gradient with central differences of the log density at a point (`Model.check_gradient`).

    >>> import emomc
    >>> model = emomc.Model(data={"x": [4.9, 5.2, 5.5]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> check = model.check_gradient([5.0])
    >>> check.agrees, check.num_compared
    (True, 1)
    """

    agrees: bool  #: whether no compared element differs by more than the error of the differences
    num_compared: int  #: number of compared elements
    worst: int  #: index of the element of the gradient that differs most
    derivative: float  #: value of this element in the gradient
    difference: float  #: value of this element by central differences


class _Density:
    """A posterior density with two kinds of coordinates: base of Model and of the posterior of a mixture.

    A point is `theta`, parameters in the data's own units, or `u`, unconstrained real numbers. Arrays of another shape
    raise InputError or ValueError. An exception of a log density that is a function raises DensityError.
    """

    _posterior: _emomc.Posterior
    _function: RowFunction | None = None  # keeps the compiled code of a log density that is a function

    def _watched(self) -> Watch:
        """Returns a context in which an exception of a log density that is a function raises DensityError."""
        return Watch([]) if self._function is None else self._function.watch(self._posterior)

    @property
    def names(self) -> list[str]:
        """The names of the elements of theta [num_parameters], such as "s[0]"."""
        return self._posterior.names

    @property
    def num_parameters(self) -> int:
        """The length of theta."""
        return self._posterior.num_parameters

    @property
    def num_unconstrained(self) -> int:
        """The length of u."""
        return self._posterior.num_unconstrained

    def log_posterior(self, theta: ArrayLike) -> Any:
        """Returns the log likelihood plus the log prior at theta [..., num_parameters], in the data's own units.

        The result is a number, or an array with the leading axes of theta; -inf outside the support. Draws have the
        same value as `draws["log_density"]`.
        """
        with self._watched():
            return _each(self._posterior.log_posterior, theta)

    def log_density(self, u: ArrayLike) -> Any:
        """Returns the log density at unconstrained points u [..., num_unconstrained]: a number, or an array [...].

        The log density is log_posterior(constrain(u)) plus the log Jacobian of the map from u to the parameters. If the
        model standardises columns, these are the parameters for standardised columns.
        """
        with self._watched():
            return _each(self._posterior.log_density, u)

    def log_density_and_gradient(self, u: ArrayLike) -> tuple[float, NDArray[np.float64]]:
        """Returns log_density(u) at one point u [num_unconstrained], and its gradient [num_unconstrained].

        Raises InputError if the likelihood has no gradient.
        """
        with self._watched():
            return self._posterior.log_density_and_gradient(_vector(u))

    def check_gradient(self, u: ArrayLike | None = None) -> GradientCheck:
        """Compares the gradient at u [num_unconstrained] with central differences of log_density; None: at `initial()`.

        At most 50 elements are compared, fewer if there are many rows. Raises InputError if the likelihood has no
        gradient or log_density(u) is not finite.
        """
        point = self.initial() if u is None else _vector(u)
        with self._watched():
            compared, worst, derivative, difference, bound = self._posterior.check_gradient(point)
        if compared == 0:
            raise _emomc.InputError("u: the log density is not finite there, so that there is no gradient to compare")
        return GradientCheck(abs(derivative - difference) <= bound, compared, worst, derivative, difference)

    def constrain(self, u: ArrayLike) -> NDArray[np.float64]:
        """Returns the parameters theta [num_parameters] at the unconstrained point u [num_unconstrained]."""
        return self._posterior.constrain(_vector(u))

    def unconstrain(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Returns the unconstrained point u [num_unconstrained] of theta [num_parameters].

        Raises InputError outside the support.
        """
        return self._posterior.unconstrain(_vector(theta))

    def initial(self, seed: int = 0) -> NDArray[np.float64]:
        """Returns a draw from the prior, as an unconstrained point u [num_unconstrained], with a finite log density."""
        with self._watched():
            return self._posterior.initial(_arguments.integer("seed", seed, 0, _arguments.MOST_SEED))


class Model(_Density):
    """A posterior density whose likelihood is an expression or a Python function.

    Parameters
    ----------
    data
        Columns by name, as one-dimensional arrays of one length; or a data frame; or an array rows x columns, whose
        columns are named c0, c1, ... Arrays on a GPU (CuPy, JAX, PyTorch) are not copied to the host: backend "cuda"
        samples with them. The model keeps these arrays alive; do not change them while the model is in use.
    parameters
        Parameters by name: `real()`, `positive()`, `unit()`, `simplex(n)` or `angle()`, each with a length if the
        parameter is a list.
    log_density
        Log density of a row, as an expression of columns and parameters (docs/your-own-likelihood.md;
        `emomc.functions()` lists the functions). Or a Python function that returns the log density of one row. The
        arguments of the function have the names of columns and parameters; a column is a float, a parameter is a float
        or, if it is a list, an array. Numba compiles the function for the CPU (numba.njit with error_model="numpy",
        unless the function is already compiled) and, if a GPU samples, for the GPU (numba-cuda), from the same source.
        An exception of the function raises DensityError, which names the row. On the CPU, an index that an array does
        not have is such an exception. A GPU does not check indices, and does not sample functions with `raise` or
        `assert`. Indices are therefore also checked for all rows when the model is made, unless the data are on a GPU.
        A run in a directory can be resumed only if the sources of the function and of `gradient` are the same; values
        that they read besides their arguments are not compared.
    gradient
        Gradient of a log density that is a function: another function, which writes the derivatives of the row's log
        density to its argument `out`, an array of zeros with one element for each element of theta, in the order of
        `names`. Its other arguments are columns and parameters, as for `log_density`. Or "differences": central
        differences of the function, which take two evaluations for each element of theta. None: there is no gradient,
        and only proposals without gradients can sample the function. `check_gradient` compares the gradient with
        differences; `sample` warns if a gradient that is a function disagrees with differences at a draw from the
        prior.
    priors
        Priors by the names of the parameters, one for each parameter.
    where
        Parts of the log density by name; a part can refer to the parts before it.
    prepare
        Expressions of parameters and constants only, by name.
    derived
        Quantities of parameters by name, which draws contain as well.
    rows
        Quantities of each row by name, as expressions of columns and parameters, such as `rows={"rate": "exp(eta)"}`;
        `Draws.predict` computes them.
    simulate
        Distributions of columns by name, such as `simulate={"y": "poisson_log_rng(eta)"}`, for replicates of the data
        (`Draws.to_datatree`). Required only if rows have weights, or the log density is not a sum of densities of
        columns, each of them a `_lpdf`, a `_lpmf` or a `log_mix` of such. A name that is no column must occur in a
        later expression.
    linear
        Linear predictors by name.
    constants
        Finite numbers and lists of one or more finite numbers by name.
    weights
        Name of a column by which the log density of each row is multiplied; "": no weights.
    precision
        "float64", or "mixed" for float32 terms with float64 sums.

    Raises
    ------
    InputError
        if an expression, a prior or the data are not allowed, or a function uses an element that an array does not
        have; the message names the key, and the row.
    ImportError
        if the log density is a function and Numba is missing.
    ValueError, TypeError
        if an argument has a shape or a type that is not allowed.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [4.9, 5.2, 5.5]}, parameters={"m": emomc.real(), "s": emomc.positive()},
    ...                     log_density="normal_lpdf(x, m, s)",
    ...                     priors={"m": emomc.normal(0, 10), "s": emomc.half_normal(5)})
    >>> value, gradient = model.log_density_and_gradient(model.unconstrain([5.0, 1.0]))
    >>> round(value, 3), len(gradient)
    (-8.109, 2)
    """

    def __init__(
        self,
        *,
        data: Any,
        log_density: str | Callable[..., float],
        gradient: Callable[..., None] | Literal["differences"] | None = None,
        priors: Mapping[str, Prior],
        parameters: Mapping[str, Parameter] | None = None,
        where: Mapping[str, str] | None = None,
        prepare: Mapping[str, str] | None = None,
        derived: Mapping[str, str] | None = None,
        rows: Mapping[str, str] | None = None,
        simulate: Mapping[str, str] | None = None,
        linear: Mapping[str, Linear] | None = None,
        constants: Mapping[str, ArrayLike] | None = None,
        weights: str = "",
        precision: Literal["float64", "mixed"] = "float64",
    ) -> None:
        columns, arrays = columns_of(data)
        declared: list[tuple[str, str, int, str]] = []
        for name, parameter in _arguments.mapping("parameters", parameters, "parameters by name").items():
            if not isinstance(parameter, Parameter):
                raise TypeError(f"parameters[{name!r}] is no parameter; write one such as emomc.real()")
            declared.append((name, parameter.support, parameter.length, parameter.order))
        given_priors = _arguments.mapping("priors", priors, "priors by the names of the parameters")
        numbers = _constants(constants)
        if not isinstance(log_density, str):
            if not callable(log_density):
                raise TypeError("log_density: allowed: an expression, or a function of columns and parameters")
            for key, given in (("where", where), ("prepare", prepare), ("linear", linear), ("constants", constants)):
                if given:
                    raise ValueError(f"{key}: allowed with an expression only; a function computes all of the log density itself")
            lengths = {name: length for name, _, length, _ in declared}
            self._function = compile_rows(log_density, columns, lengths, gradient)
        elif gradient is not None:
            raise ValueError("gradient: the gradient of an expression is derived automatically; allowed if log_density is a function")
        self._posterior = _emomc.Posterior.expression(
            columns=columns,
            arrays=arrays,
            parameters=declared,
            log_density="" if self._function else str(log_density),
            priors=flat_priors(given_priors),
            where=_texts("where", where),
            prepare=_texts("prepare", prepare),
            derived=_texts("derived", derived),
            rows=_texts("rows", rows),
            simulate=_simulated(simulate, columns),
            linear=_predictors(linear),
            constants=numbers,
            weights=_arguments.text("weights", weights),
            precision=_arguments.text("precision", precision),
            function=self._function,
        )
        if self._function:
            self._function.check_indices(self._posterior, columns, arrays)

    def __repr__(self) -> str:
        return f"emomc.Model({self.num_parameters} parameters)"


def _constants(constants: Mapping[str, ArrayLike] | None) -> list[tuple[str, list[int], list[float]]]:
    """Returns the names, shapes and values of constants."""
    result: list[tuple[str, list[int], list[float]]] = []
    for name, value in _arguments.mapping("constants", constants, "numbers and lists by name").items():
        key = f"constants[{name!r}]"
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{key}: values of type {array.dtype}; allowed: a number or a list of numbers")
        if array.ndim > 1:
            raise ValueError(f"{key}: {array.ndim} axes; allowed: a number or a list")
        if array.size == 0:
            raise ValueError(f"{key}: the list is empty; allowed: one or more numbers")
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            raise ValueError(f"{key}: {array[~np.isfinite(array)].flat[0]} is not finite; allowed: finite numbers")
        result.append((name, list(array.shape), array.ravel().tolist()))
    return result


def _texts(key: str, texts: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Returns pairs of names and expressions."""
    given = _arguments.mapping(key, texts, "expressions by name")
    return [(name, _arguments.text(f"{key}[{name!r}]", text)) for name, text in given.items()]


def _simulated(simulate: Mapping[str, str] | None, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Returns pairs of names and expressions. A name that is no column must occur in a later expression."""
    given = _texts("simulate", simulate)
    for i, (name, _) in enumerate(given):
        if name not in columns and not any(re.search(rf"\b{re.escape(name)}\b", text) for _, text in given[i + 1 :]):
            raise _emomc.InputError(
                f"simulate: {name} is no column of the data, and no later expression uses it; "
                f"{_arguments.nearest(name, columns)}columns: {', '.join(columns)}"
            )
    return given


def _predictors(linear: Mapping[str, Linear] | None) -> list[tuple[str, str, list[str], str, str]]:
    """Returns the name, intercept, columns, coefficients and offset of each linear predictor."""
    result: list[tuple[str, str, list[str], str, str]] = []
    for name, p in _arguments.mapping("linear", linear, "linear predictors by name").items():
        if not isinstance(p, Linear):
            raise TypeError(f"linear[{name!r}] is no linear predictor; write one such as emomc.Linear([\"x\"], \"b\")")
        result.append((name, p.intercept, list(p.columns), p.coefficients, p.offset))
    return result


def _vector(values: ArrayLike) -> NDArray[np.float64]:
    vector = np.ascontiguousarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"an array with {vector.ndim} axes; allowed: one point")
    return vector


def _each(function: Any, points: ArrayLike) -> Any:
    array = np.ascontiguousarray(points, dtype=np.float64)
    if array.ndim == 1:
        return function(array)
    rows = array.reshape(-1, array.shape[-1])
    return np.array([function(row) for row in rows]).reshape(array.shape[:-1])

"""Mixtures of Gaussians with scikit-learn's interface, fitted by EM or sampled by Markov chains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc
from ._data import columns_of, is_on_gpu, shape_of, table_of
from ._draws import Draws
from ._estimator import Estimator, not_fitted, seed_of
from ._model import _Density
from ._priors import Prior, flat_priors
from ._sample import sample

_Floats = NDArray[np.float64]


class _MixturePosterior(_Density):
    """The posterior that GaussianMixture.fit_posterior samples."""

    def __init__(self, posterior: _emomc.Posterior) -> None:
        self._posterior = posterior


class GaussianMixture(Estimator):
    """A mixture of Gaussians, fitted by EM (`fit`) or sampled by Markov chains (`fit_posterior`).

    Parameters
    ----------
    n_components
        Number of components.
    covariance_type
        Type of the covariance matrices: "full", "tied", "diag" or "spherical", as in scikit-learn.
    priors
        Priors that replace the default priors of `fit_posterior`, by the names "weights", "means", "scales" and
        "correlations".
    standardize
        Whether priors refer to columns with mean 0 and sd 1; otherwise they are in the data's own units.
    ordered
        Whether components are numbered by the mean of the first column.
    scale_floor
        Smallest standard deviation of a component, as a share of the column's standard deviation.
    n_init, max_iter, tol
        Settings of `fit`: the maximum number of fits that are followed to their end, out of a pool of short fits; the
        maximum number of EM rounds of each fit; and the rise of the mean log likelihood of a row in a round, below
        which EM ends.
    random_state
        Seed of the random numbers. None: 20260101.
    n_threads
        Number of CPU threads; 0: all.

    Attributes
    ----------
    weights_ [n_components], means_ [n_components x columns], covariances_
        Estimates of maximum likelihood after `fit`, means over draws after `fit_posterior`. covariances_ contains full
        matrices [n_components x columns x columns] for every covariance_type.
    draws_
        Draws of the posterior after `fit_posterior`; None after `fit`.
    converged_, n_iter_, log_likelihood_
        Available after `fit`: whether EM has converged, the number of rounds, and the log likelihood of all rows.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names if X is a data frame or a dictionary.

    >>> import emomc, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(0, 1, size=(100, 1)), rng.normal(8, 1, size=(100, 1))])
    >>> mixture = emomc.GaussianMixture(2, ordered=True).fit(X)
    >>> (mixture.means_.round() + 0).ravel()
    array([0., 8.])
    >>> mixture.fit_posterior(X, draws=200, warmup=200, progress=False).draws_["means"].shape
    (4, 200, 2, 1)
    """

    _types = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}

    weights_: _Floats
    means_: _Floats
    covariances_: _Floats
    draws_: Draws | None
    converged_: bool
    n_iter_: int
    log_likelihood_: float
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _weights: _Floats
    _means: _Floats
    _factors: _Floats

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        priors: Mapping[str, Prior] | None = None,
        standardize: bool = True,
        ordered: bool = False,
        scale_floor: float = 0.001,
        n_init: int = 8,
        max_iter: int = 10_000,
        tol: float = 1e-10,
        random_state: int | None = None,
        n_threads: int = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.priors = priors
        self.standardize = standardize
        self.ordered = ordered
        self.scale_floor = scale_floor
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        """Returns the tags of the estimator; only scikit-learn calls this method."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type="density_estimator", target_tags=TargetTags(required=False), input_tags=InputTags())

    def __repr__(self) -> str:
        return f"emomc.GaussianMixture({self.n_components}, covariance_type={self.covariance_type!r})"

    def posterior(self, X: Any) -> _Density:
        """Returns the posterior density of the mixture given X [rows x columns], with the methods of Model.

        Raises InputError or ValueError if X or an option is not allowed.
        """
        return _MixturePosterior(self._posterior_of(X))

    def fit(self, X: Any, y: None = None) -> GaussianMixture:
        """Finds the parameters of maximum likelihood given X [rows x columns], by EM from many starts.

        Raises InputError, ValueError or TypeError if X or an option is not allowed; and InputError if a covariance of the
        fit is not positive definite. Warns (UserWarning) if EM has not converged, the fit is degenerate, or a column on
        the host has so few values that no mixture of Gaussians describes it. Ctrl-C raises KeyboardInterrupt.
        """
        restarts = _arguments.integer("n_init", self.n_init, 1, _arguments.MOST_INT)
        rounds = _arguments.integer("max_iter", self.max_iter, 1, _arguments.MOST_INT)
        tolerance = _arguments.real("tol", self.tol)
        if not tolerance >= 0:
            raise _emomc.InputError(f"tol: {self.tol} is out of range; allowed: 0 or more")
        posterior = self._posterior_of(X)
        theta, log_likelihood, rounds, converged, degenerate = posterior.fit(
            restarts=restarts, max_rounds=rounds, tolerance=tolerance, seed=self._seed(), threads=self._threads()
        )
        arrays = _arrays_of(posterior.names, theta)
        fitted = self._fitted(arrays["weights"][None], arrays["means"][None], self._matrices(arrays, ()))
        found = {"draws_": None, "log_likelihood_": log_likelihood, "n_iter_": rounds, "converged_": converged}
        self._keep(X, posterior, fitted | found)
        if degenerate:
            _arguments.warn(f"the fit is degenerate, {degenerate}; use fewer components")
        elif not converged:
            _arguments.warn("EM has not converged; raise max_iter or tol")
        if posterior.gpu is None:
            _warn_of_few_values(posterior.columns, posterior.data, self.n_components)
        return self

    def fit_posterior(self, X: Any, y: None = None, **options: Any) -> GaussianMixture:
        """Samples the posterior given X [rows x columns].

        `options` are the arguments of `emomc.sample` except the model. Predictions and scores of rows are then means
        over draws. Raises the exceptions of `emomc.sample`.
        """
        posterior = self._posterior_of(X)
        model = _MixturePosterior(posterior)
        options = {"seed": self._seed(), "threads": self._threads()} | options
        draws = sample(model, **options)
        flat = {name: _flat(draws[name]) for name in draws.parameters}
        fitted = self._fitted(flat["weights"], flat["means"], self._matrices(flat, (len(flat["weights"]),)))
        self._keep(X, posterior, fitted | {"draws_": draws})
        return self

    def predict_proba(self, X: Any) -> _Floats:
        """Returns probabilities of components [rows x n_components]; after `fit_posterior`, means over draws."""
        rows = self._rows(X)
        total = np.zeros((len(rows), len(self.weights_)))
        for index in self._used():
            logs = self._log_densities(rows, index)
            total += np.exp(logs - _log_sum(logs)[:, None])
        return total / len(self._used())

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Returns the most probable component of each row [rows]."""
        return np.asarray(np.argmax(self.predict_proba(X), axis=1), dtype=np.int64)

    def score_samples(self, X: Any) -> _Floats:
        """Returns the log density of each row [rows]; after `fit_posterior`, the log of the mean density over draws."""
        rows = self._rows(X)
        used = self._used()
        logs = np.stack([_log_sum(self._log_densities(rows, index)) for index in used], axis=1)
        return np.asarray(_log_sum(logs) - np.log(len(used)))

    def score(self, X: Any, y: None = None) -> float:
        """Returns the mean of score_samples over rows."""
        return float(np.mean(self.score_samples(X)))

    #: Maximum number of draws, at equal distances, over which predictions and scores are averaged.
    _most_draws = 400

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _threads(self) -> int:
        return _arguments.integer("n_threads", self.n_threads, 0, 4096)

    def _posterior_of(self, X: Any) -> _emomc.Posterior:
        if self.covariance_type not in self._types:
            raise _emomc.InputError(
                f"covariance_type: {self.covariance_type} is unknown; allowed: {', '.join(self._types)}"
            )
        priors = _arguments.mapping("priors", self.priors, "priors by name")
        columns, arrays = _arrays_of_columns(X)
        return _emomc.Posterior.mixture(
            columns=columns,
            arrays=arrays,
            components=_arguments.integer("n_components", self.n_components, -_arguments.MOST_INT, _arguments.MOST_INT),
            covariance=self._types[self.covariance_type],
            priors=flat_priors(priors),
            standardize=_arguments.flag("standardize", self.standardize),
            ordered=_arguments.flag("ordered", self.ordered),
            scale_floor=_arguments.real("scale_floor", self.scale_floor),
            precision="mixed",
        )

    def _keep(self, X: Any, posterior: _emomc.Posterior, fitted: dict[str, Any]) -> None:
        """Sets the attributes of a fit to X at once, so that Ctrl-C cannot leave a part of them."""
        columns = posterior.columns
        if not _has_names(X):
            vars(self).pop("feature_names_in_", None)
        names = {"feature_names_in_": np.array(columns, dtype=object)} if _has_names(X) else {}
        vars(self).update(fitted, n_features_in_=len(columns), **names)

    def _rows(self, X: Any) -> _Floats:
        if not hasattr(self, "weights_"):
            raise not_fitted("GaussianMixture", "fit or fit_posterior")
        columns, rows = _columns_of(X)
        if rows.shape[1] != self.n_features_in_:
            raise _emomc.InputError(
                f"X has {rows.shape[1]} features, but GaussianMixture is expecting {self.n_features_in_} features as input"
            )
        if _has_names(X) and hasattr(self, "feature_names_in_") and list(self.feature_names_in_) != columns:
            raise _emomc.InputError(
                "The feature names should match those that were passed during fit: "
                f"{', '.join(columns)}; there were {', '.join(self.feature_names_in_)}"
            )
        return rows

    def _matrices(self, arrays: dict[str, _Floats], leading: tuple[int, ...]) -> _Floats:
        """Returns full covariance matrices [draws x components x columns x columns]."""
        K, d = arrays["means"].shape[-2:]
        count = leading[0] if leading else 1
        if "covariances" in arrays:
            return arrays["covariances"].reshape(count, K, d, d)
        if "covariance" in arrays:
            return np.broadcast_to(arrays["covariance"].reshape(count, 1, d, d), (count, K, d, d))
        scales = arrays["scales"].reshape(count, K, -1)
        return np.asarray(np.broadcast_to(scales, (count, K, d))[..., None] ** 2 * np.eye(d))

    def _fitted(self, weights: _Floats, means: _Floats, covariances: _Floats) -> dict[str, Any]:
        """Returns the attributes of a fitted mixture. The first axis of the arguments is the axis of draws.

        Raises InputError if a covariance is not positive definite.
        """
        try:
            factors = np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError:
            draw, k = np.argwhere(~_are_positive_definite(covariances))[0]
            of_draw = f" of draw {draw}" if len(covariances) > 1 else ""
            raise _emomc.InputError(
                f"X: the covariance of component {k}{of_draw} is not positive definite, as where a column is a linear "
                "function of others or a component has too few rows; leave the column out, use fewer components, or "
                'covariance_type="diag"'
            ) from None
        return {
            "_weights": weights,
            "_means": means,
            "_factors": factors,
            "weights_": np.asarray(weights.mean(axis=0)),
            "means_": np.asarray(means.mean(axis=0)),
            "covariances_": np.asarray(covariances.mean(axis=0)),
        }

    def _used(self) -> list[int]:
        count = len(self._weights)
        most = min(count, self._most_draws)
        return [(2 * i + 1) * count // (2 * most) for i in range(most)]

    def _log_densities(self, rows: _Floats, draw: int) -> _Floats:
        """Returns log(weight x density) of each row and component [rows x components], for one draw."""
        d = rows.shape[1]
        result = np.empty((len(rows), len(self._weights[draw])))
        for k, (weight, mean, factor) in enumerate(
            zip(self._weights[draw], self._means[draw], self._factors[draw], strict=True)
        ):
            z = np.linalg.solve(factor, (rows - mean).T)
            log_det = np.log(np.diag(factor)).sum()
            result[:, k] = np.log(weight) - 0.5 * (z * z).sum(axis=0) - log_det - 0.5 * d * np.log(2 * np.pi)
        return result


def _are_positive_definite(matrices: _Floats) -> NDArray[np.bool_]:
    """Returns whether each matrix has a Cholesky factor [...]."""
    result = np.ones(matrices.shape[:-2], dtype=bool)
    for index in np.ndindex(*result.shape):
        try:
            np.linalg.cholesky(matrices[index])
        except np.linalg.LinAlgError:
            result[index] = False
    return result


#: Number of rows from which few distinct values of a column are a reason for a warning.
_FEWEST_ROWS = 20


def _warn_of_few_values(names: list[str], table: _Floats, n_components: int) -> None:
    """Warns of columns with two values or one, or with no more values than components, whose scales then collapse."""
    if len(table) < _FEWEST_ROWS:
        return
    most = max(2, n_components)
    few: list[str] = []
    for name, column in zip(names, table.T, strict=True):
        if len(np.unique(column[:1000])) > most:
            continue
        if (count := len(np.unique(column))) <= min(most, len(column) // 5):
            few.append(f"{name} has {'one value' if count == 1 else f'{count} values'} only")
    if few:
        more = f", and {len(few) - 3} more columns" if len(few) > 3 else ""
        _arguments.warn(
            f"{'; '.join(few[:3])}{more}: no mixture of Gaussians describes such a column, and scales at their lower bound "
            "determine the fit; leave it out"
        )


def _has_names(X: Any) -> bool:
    return isinstance(X, Mapping) or (hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns))


def _arrays_of_columns(X: Any) -> tuple[list[str], list[Any]]:
    """Returns the result of columns_of. Arrays on the host are checked, with messages as scikit-learn's.

    Arrays on a GPU are not copied.
    """
    parts = X.values() if isinstance(X, Mapping) else [X]
    if not any(is_on_gpu(part) for part in parts):
        columns, rows = _columns_of(X)
        return columns, [rows]
    columns, arrays = columns_of(X)
    if shape_of(arrays[0])[0] == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return columns, arrays


def _columns_of(X: Any) -> tuple[list[str], _Floats]:
    """Returns the result of table_of. Exceptions have scikit-learn's messages where these exist."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("Sparse data was passed, but dense data is required: X.toarray()")
    if not isinstance(X, Mapping) and not hasattr(X, "columns"):
        shape, kind = np.shape(X), getattr(getattr(X, "dtype", np.dtype(float)), "kind", "f")
        if kind == "c" or (isinstance(X, list) and np.asarray(X).dtype.kind == "c"):
            raise ValueError(f"Complex data not supported: {X!r:.80}")
        if len(shape) == 1:
            raise ValueError(f"X: an array with 1 axis; allowed: rows x columns. Reshape your data: shape {shape}")
        if len(shape) == 2 and shape[1] == 0:
            raise ValueError(f"0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        if len(shape) == 2 and kind == "O":
            X = np.asarray(X, dtype=np.float64)
    columns, rows = table_of(X)
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        value = "NaN" if np.isnan(rows[i, j]) else "inf"
        raise _emomc.InputError(f"X: row {i}, column {columns[j]}: {value} is not allowed; allowed: finite numbers")
    return columns, rows


def _flat(array: _Floats) -> _Floats:
    return array.reshape((-1,) + array.shape[2:])


def _log_sum(logs: _Floats) -> _Floats:
    largest = logs.max(axis=1, keepdims=True)
    return np.asarray(largest[:, 0] + np.log(np.exp(logs - largest).sum(axis=1)))


def _arrays_of(names: list[str], theta: _Floats) -> dict[str, _Floats]:
    """Returns arrays of the elements `name[i,j]`. Covariances are given as lower triangles and returned symmetric."""
    elements: dict[str, dict[tuple[int, ...], float]] = {}
    for name, value in zip(names, theta, strict=True):
        block, _, inside = re.fullmatch(r"([^\[]+)(\[([0-9,]+)\])?", name).groups()  # type: ignore[union-attr]
        index = tuple(int(i) for i in inside.split(",")) if inside else ()
        elements.setdefault(block, {})[index] = value
    arrays: dict[str, _Floats] = {}
    for block, values in elements.items():
        array = np.zeros(tuple(np.max(list(values), axis=0) + 1))
        for index, value in values.items():
            array[index] = value
            if block.startswith("covariance"):
                array[index[:-2] + (index[-1], index[-2])] = value
        arrays[block] = array
    return arrays

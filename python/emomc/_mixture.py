"""Mixtures of Gaussians with scikit-learn's interface, fitted by EM or sampled by Markov chains."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _emomc
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

        Raises InputError or ValueError if X or an option is not allowed. Warns (UserWarning) if EM has not converged or
        the fit is degenerate.
        """
        posterior = self._posterior_of(X)
        theta, self.log_likelihood_, self.n_iter_, self.converged_, degenerate = posterior.fit(
            restarts=self.n_init,
            max_rounds=self.max_iter,
            tolerance=self.tol,
            seed=self._seed(),
            threads=self.n_threads,
        )
        if degenerate:
            warnings.warn(f"the fit is degenerate, {degenerate}; use fewer components", stacklevel=2)
        elif not self.converged_:
            warnings.warn("EM has not converged; raise max_iter or tol", stacklevel=2)
        arrays = _arrays_of(posterior.names, theta)
        self.draws_: Draws | None = None
        self._set(arrays["weights"][None], arrays["means"][None], self._matrices(arrays, ()))
        return self

    def fit_posterior(self, X: Any, y: None = None, **options: Any) -> GaussianMixture:
        """Samples the posterior given X [rows x columns].

        `options` are the arguments of `emomc.sample` except the model. Predictions and scores of rows are then means
        over draws. Raises the exceptions of `emomc.sample`.
        """
        model = _MixturePosterior(self._posterior_of(X))
        options = {"seed": self._seed(), "threads": self.n_threads} | options
        draws = sample(model, **options)
        self.draws_ = draws
        flat = {name: _flat(draws[name]) for name in draws.parameters}
        self._set(flat["weights"], flat["means"], self._matrices(flat, (len(flat["weights"]),)))
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

    def _posterior_of(self, X: Any) -> _emomc.Posterior:
        if self.covariance_type not in self._types:
            raise _emomc.InputError(
                f"covariance_type: {self.covariance_type} is unknown; allowed: {', '.join(self._types)}"
            )
        columns, arrays = _arrays_of_columns(X)
        posterior = _emomc.Posterior.mixture(
            columns=columns,
            arrays=arrays,
            components=self.n_components,
            covariance=self._types[self.covariance_type],
            priors=flat_priors(dict(self.priors or {})),
            standardize=self.standardize,
            ordered=self.ordered,
            scale_floor=self.scale_floor,
            precision="mixed",
        )
        self.n_features_in_ = len(columns)
        if _has_names(X):
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return posterior

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
        K, d = self.n_components, self.n_features_in_
        count = leading[0] if leading else 1
        if "covariances" in arrays:
            return arrays["covariances"].reshape(count, K, d, d)
        if "covariance" in arrays:
            return np.broadcast_to(arrays["covariance"].reshape(count, 1, d, d), (count, K, d, d))
        scales = arrays["scales"].reshape(count, K, -1)
        return np.asarray(np.broadcast_to(scales, (count, K, d))[..., None] ** 2 * np.eye(d))

    def _set(self, weights: _Floats, means: _Floats, covariances: _Floats) -> None:
        self._weights, self._means = weights, means
        self._factors = np.linalg.cholesky(covariances)
        self.weights_ = np.asarray(weights.mean(axis=0))
        self.means_ = np.asarray(means.mean(axis=0))
        self.covariances_ = np.asarray(covariances.mean(axis=0))

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

"""Prediction of numbers of recordings, such as arousal, by linear regression on functionals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc
from ._estimator import Estimator, not_fitted, numbers_of, seed_of
from ._progress import StageLine, StageProgress
from ._recordings import Recordings, predicted_by_speaker, refuse_existing_model, refuses

_Floats = NDArray[np.float64]
_FUNCTIONALS = ("cepstra", "prosody", "full", "compact")


@dataclass(frozen=True, repr=False)
class PredictedNumbers:
    """Predictive distributions of the numbers of recordings, which are Student's t distributions.

    Arrays have the shape recordings if there is one dimension, otherwise recordings x dimensions.

    >>> import emomc, numpy as np
    >>> numbers = emomc.PredictedNumbers(np.array([3.0]), np.array([0.5]), np.array([0.6]), 8.0)
    >>> numbers.interval(0.9).round(3)
    array([[2.07, 3.93]])
    """

    mean: _Floats  #: mean, in the unit of the numbers
    scale: _Floats  #: scale of the t distribution, in the unit of the numbers
    sd: _Floats  #: standard deviation, in the unit of the numbers
    degrees_of_freedom: float  #: degrees of freedom of all distributions

    def interval(self, level: float = 0.9) -> _Floats:
        """Returns the ends of the central intervals with this probability [..., 2].

        Raises InputError if the level is not above 0 and below 1.
        """
        if not 0 < _arguments.real("level", level) < 1:
            raise _emomc.InputError(f"level: {level} is out of range; allowed: above 0 and below 1")
        mean, scale = (np.ascontiguousarray(values, dtype=np.float64).ravel() for values in (self.mean, self.scale))
        ends = _emomc.predictive_intervals(mean, scale, self.degrees_of_freedom, float(level))
        return ends.reshape(*np.shape(self.mean), 2)

    def __repr__(self) -> str:
        return f"emomc.PredictedNumbers({' x '.join(map(str, np.shape(self.mean)))})"


class Regressor(Estimator):
    """Predicts numbers of recordings, such as arousal and valence, with their uncertainty.

    The method is Bayesian linear regression on functionals. It equals the regression of `emomc train`
    (`corpus.dimensions`) with the same recordings, numbers, options and seed; docs/regression.md has the formulas. As
    scikit-learn separates regressors from classifiers, this class is separate from `Classifier`: `predict` returns
    numbers (and their standard deviations with `return_std=True`, as `BayesianRidge` does), and there is no
    `predict_proba`. There are no options of Markov chains, because the posterior is known in closed form.

    Parameters
    ----------
    functionals
        Set of functionals that describes a recording: "cepstra", "prosody", "full" or "compact".
    prior_sds
        Prior standard deviations of the part that functionals explain, in units of the noise's standard deviation. One
        of them is chosen for each dimension by leaving out training speakers in turn.
    sd_factor
        Factor by which predictive standard deviations are multiplied. None: the factor is learned by leaving out
        training speakers in turn; 1: the predictive distributions are those of the posterior.
    random_state
        Seed of the random numbers, which select the known recordings of a speaker. None: 20260101.
    n_threads
        Number of CPU threads; 0: all. The results do not depend on the number.

    Attributes
    ----------
    dimensions_ [dimensions]
        Names of the dimensions.
    prior_sd_, noise_sd_, sd_factor_ [dimensions]
        The prior standard deviation that was chosen; the standard deviation of the noise, in the unit of the numbers;
        and the factor of predictive standard deviations if all recordings of the speaker are known.
    notes_
        Available after `fit`: sentences about the recordings that were read and left out.
    sampling_rate_
        Sampling rate of the training recordings in Hz; 0: the recordings had different rates.

    >>> import emomc, numpy as np
    >>> t = np.arange(8000) / 16000
    >>> def voice(pitch, noise, seed):
    ...     rng = np.random.default_rng(seed)
    ...     return 0.1 * sum(np.sin(2 * np.pi * h * pitch * t) / h for h in range(1, 6)) + noise * rng.normal(size=len(t))
    >>> roughness = [0.0, 1.0, 2.0] * 3
    >>> X = [voice(100 + 7 * i, 0.001 * 7**rough, i) for i, rough in enumerate(roughness)]
    >>> speakers = [name for name in "ABC" for i in range(3)]
    >>> regressor = emomc.Regressor(functionals="prosody")
    >>> regressor.fit(X, {"roughness": roughness}, speakers, sampling_rate=16000, progress=False)
    emomc.Regressor('prosody', dimensions=['roughness'])
    >>> mean, sd = regressor.predict(X[:3], sampling_rate=16000, return_std=True)
    >>> bool(mean[0] < mean[1] < mean[2]), sd.shape
    (True, (3,))
    """

    _model: _emomc.RegressionModel
    dimensions_: NDArray[Any]
    prior_sd_: _Floats
    noise_sd_: _Floats
    sd_factor_: _Floats
    notes_: list[str]
    sampling_rate_: float

    def __init__(
        self,
        functionals: Literal["cepstra", "prosody", "full", "compact"] = "full",
        *,
        prior_sds: Sequence[float] = (0.1, 0.2, 0.3, 0.6, 1.0, 2.0, 3.0, 6.0, 10.0, 20.0),
        sd_factor: float | None = None,
        random_state: int | None = None,
        n_threads: int = 0,
    ) -> None:
        self.functionals = functionals
        self.prior_sds = prior_sds
        self.sd_factor = sd_factor
        self.random_state = random_state
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        """Returns the tags of the estimator; only scikit-learn calls this method."""
        from sklearn.utils import RegressorTags, InputTags, Tags, TargetTags

        inputs = InputTags(two_d_array=False)
        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True), regressor_tags=RegressorTags(), input_tags=inputs)

    def __repr__(self) -> str:
        fitted = f", dimensions={self.dimensions_.tolist()!r}" if hasattr(self, "dimensions_") else ""
        return f"emomc.Regressor({self.functionals!r}{fitted})"

    def fit(
        self,
        X: Iterable[Any],
        y: Any,
        speakers: Sequence[str],
        *,
        sampling_rate: float | Sequence[float] | None = None,
        names: Sequence[str] | None = None,
        unreadable: Literal["refuse", "skip"] = "refuse",
        progress: bool | StageProgress | None = None,
    ) -> Regressor:
        """Trains on recordings.

        Parameters
        ----------
        X, sampling_rate, names, unreadable, progress
            The same as in `Classifier.fit`: paths of audio files, or arrays of samples with their rate in Hz.
        y
            Numbers of the recordings, in any unit: an array [recordings] of one dimension, an array recordings x
            dimensions, or a dict or a data frame with a column for each dimension. Dimensions without names are called
            y, or y0, y1, ...
        speakers
            Speaker of each recording, two or more different ones, with four or more recordings in all. A recording is
            standardised by all recordings of its speaker, and settings are chosen by leaving speakers out.

        Raises InputError if a recording or a number is not allowed, such as a number that is not finite, or a dimension
        whose numbers are all equal. Ctrl-C raises KeyboardInterrupt.
        """
        given = Recordings.of(X, sampling_rate, names)
        dimensions, numbers = numbers_of_dimensions(y, given.names)
        who = given.texts("speakers", speakers)
        with StageLine(progress) as show:
            model, notes = _emomc.train_regression(
                recordings=given.items,
                names=given.names,
                speakers=who,
                numbers=numbers,
                refuse=refuses(unreadable),
                options=self._options(dimensions),
                progress=show,
            )
        # One call, so that Ctrl-C cannot leave a part of the attributes.
        vars(self).update(_attributes(model), notes_=notes)
        return self

    def predict_distribution(
        self,
        X: Iterable[Any],
        *,
        sampling_rate: float | Sequence[float] | None = None,
        speakers: Sequence[str] | None = None,
        enrolment: Iterable[Any] | None = None,
    ) -> PredictedNumbers:
        """Returns predictive distributions of the numbers; `emomc classify` prints their means, sds and 90 % intervals.

        Parameters
        ----------
        X, sampling_rate
            Recordings and their sampling rate, as in `fit`. Give a single recording as a list with one element.
        speakers
            Speaker of each recording of X; recordings of one speaker are standardised together. None: all recordings
            are assumed to be of one speaker.
        enrolment
            Other recordings of the speaker of X, with the same sampling rate. Each recording of X is then standardised
            by these recordings, independently of the other recordings of X.

        Raises InputError if a recording cannot be predicted; the message names the recording.
        """
        arrays = predicted_by_speaker(self._fitted(), X, sampling_rate, speakers, enrolment, self._threads())
        one = len(self.dimensions_) == 1
        mean, scale, sd = (values[:, 0] if one else values for values in arrays[:3])
        return PredictedNumbers(mean, scale, sd, arrays[3])

    def predict(
        self,
        X: Iterable[Any],
        *,
        sampling_rate: float | Sequence[float] | None = None,
        speakers: Sequence[str] | None = None,
        enrolment: Iterable[Any] | None = None,
        return_std: bool = False,
    ) -> Any:
        """Returns the predictive means [recordings], or recordings x dimensions if there are several dimensions.

        With `return_std`, the standard deviations are returned too, in an array of the same shape. The other arguments
        and the exceptions are those of `predict_distribution`.
        """
        numbers = self.predict_distribution(X, sampling_rate=sampling_rate, speakers=speakers, enrolment=enrolment)
        return (numbers.mean, numbers.sd) if return_std else numbers.mean

    def predict_interval(
        self,
        X: Iterable[Any],
        level: float = 0.9,
        *,
        sampling_rate: float | Sequence[float] | None = None,
        speakers: Sequence[str] | None = None,
        enrolment: Iterable[Any] | None = None,
    ) -> _Floats:
        """Returns the ends of central predictive intervals with this probability [recordings x 2].

        With several dimensions, the shape is recordings x dimensions x 2. The other arguments are those of
        `predict_distribution`. Raises InputError if the level is not above 0 and below 1, or a recording cannot be
        predicted.
        """
        numbers = self.predict_distribution(X, sampling_rate=sampling_rate, speakers=speakers, enrolment=enrolment)
        return numbers.interval(level)

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes model.json, weights.npy and rotation.npy, which `load` and `emomc classify` read.

        Raises InputError if the directory has a model and `overwrite` is False.
        """
        model = self._fitted()
        model.save(refuse_existing_model(directory, overwrite))

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Regressor:
        """Reads a regressor that `save` or `emomc train` has written.

        Options that the model does not record have their defaults; they matter only to another `fit`.

        Raises InputError if the directory has no model, or a damaged one, or a classifier.
        """
        model = _emomc.RegressionModel.load(_arguments.path("directory", directory))
        regressor = cls(model.functionals or "full", random_state=model.seed)  # type: ignore[arg-type]
        vars(regressor).update(_attributes(model))
        return regressor

    def _threads(self) -> int:
        return _arguments.integer("n_threads", self.n_threads, 0, 4096)

    def _options(self, dimensions: list[str]) -> _emomc.SoftmaxOptions:
        if self.functionals not in _FUNCTIONALS:
            raise _emomc.InputError(f"functionals: {self.functionals} is unknown; allowed: {', '.join(_FUNCTIONALS)}")
        sds = numbers_of("prior_sds", self.prior_sds)
        if not sds or not all(0 < sd <= 1000 for sd in sds):
            raise _emomc.InputError(f"prior_sds: {list(self.prior_sds)}; allowed: one or more above 0, up to 1000")
        factor = None if self.sd_factor is None else _arguments.real("sd_factor", self.sd_factor)
        if factor is not None and not 0 < factor <= 1000:
            raise _emomc.InputError(f"sd_factor: {self.sd_factor} is out of range; allowed: above 0, up to 1000, or None")
        return _emomc.regression_options(
            functionals=self.functionals,
            prior_sds=sds,
            sd_factor=factor,
            seed=seed_of(self.random_state),
            threads=self._threads(),
            dimensions=dimensions,
        )

    def _fitted(self) -> _emomc.RegressionModel:
        if not hasattr(self, "_model"):
            raise not_fitted("Regressor", "fit or load")
        return self._model


def _attributes(model: _emomc.RegressionModel) -> dict[str, Any]:
    """Returns the attributes of a fitted regressor."""
    return {
        "_model": model,
        "dimensions_": np.array(model.dimensions),
        "prior_sd_": np.array(model.prior_sds),
        "noise_sd_": np.array(model.noise_sds),
        "sd_factor_": np.array(model.sd_factors),
        "sampling_rate_": model.sample_rate,
    }


def numbers_of_dimensions(y: Any, names: Sequence[str]) -> tuple[list[str], _Floats]:
    """Returns the names of the dimensions, and the numbers [recordings x dimensions]. Raises InputError."""
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        y = {name: y[name] for name in y.columns}
    if isinstance(y, Mapping):
        if not y:
            raise _emomc.InputError("y: there is no dimension; allowed: numbers by the dimensions' names")
        dimensions = [str(name) for name in y]
        if "" in dimensions or len(set(dimensions)) != len(dimensions):
            raise _emomc.InputError(f"y: {', '.join(map(repr, dimensions))}; allowed: distinct names that are not empty")
        columns = [_floats(f"y[{name!r}]", values) for name, values in y.items()]
        for name, column in zip(dimensions, columns, strict=True):
            _check_length(f"y[{name!r}]", column, names, 1)
        numbers = np.column_stack(columns)
    else:
        numbers = _floats("y", y)
        _check_length("y", numbers, names, 2)
        if numbers.ndim == 1:
            of_series = getattr(y, "name", None)  # the name of a pandas Series
            dimensions, numbers = [of_series if isinstance(of_series, str) else "y"], numbers[:, None]
        else:
            dimensions = [f"y{d}" for d in range(numbers.shape[1])]
    if numbers.shape[1] == 0:
        raise _emomc.InputError("y: there is no dimension; allowed: recordings x dimensions")
    if not np.isfinite(numbers).all():
        i, d = np.argwhere(~np.isfinite(numbers))[0]
        raise _emomc.InputError(f"y: the {dimensions[d]} of {names[i]} is {numbers[i, d]}; allowed: finite numbers")
    return dimensions, np.ascontiguousarray(numbers)


def _floats(what: str, values: Any) -> _Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise _emomc.InputError(f"{what}: values of type {array.dtype}; allowed: numbers (Classifier predicts classes)")
    return array.astype(np.float64)


def _check_length(what: str, numbers: _Floats, names: Sequence[str], most_axes: int) -> None:
    if not 1 <= numbers.ndim <= most_axes:
        raise _emomc.InputError(f"{what}: an array with {numbers.ndim} axes; allowed: a number of each recording")
    if len(numbers) != len(names):
        raise _emomc.InputError(f"{what}: {len(numbers)} of {len(names)} recordings")

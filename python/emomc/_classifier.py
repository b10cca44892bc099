"""Classifier of the emotions of recordings by softmax regression on functionals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc
from ._estimator import Estimator, not_fitted, numbers_of, seed_of
from ._progress import StageLine, StageProgress
from ._recordings import Recordings, predicted_by_speaker, refuse_existing_model, refuses

# Smallest and largest allowed value of each option.
_RANGES: dict[str, tuple[int, int]] = {
    "chains": (2, 100_000),
    "warmup": (10, 100_000),
    "draws": (10, 100_000),
    "n_threads": (0, 4096),
}


class Classifier(Estimator):
    """Estimates the probabilities of the emotions of recordings by Bayesian softmax regression on functionals.

    The classifier equals that of `emomc train` with the same recordings, options and seed, bit for bit; docs/softmax.md
    has the formulas.

    Parameters
    ----------
    functionals
        Set of functionals that describes a recording: "cepstra", "prosody", "full" or "compact". None: "full", or
        "compact" with the horseshoe.
    prior
        Prior of the weights: "ridge", one normal distribution, averaged over the standard deviations `prior_sds`; or
        "horseshoe", the regularised horseshoe of Piironen and Vehtari (2017), whose scales are parameters, for up to
        200 functionals.
    prior_sds
        Prior standard deviations of a logit. Their posteriors are averaged with weights that are learned by leaving out
        training speakers in turn. With the horseshoe they do not affect predictions.
    relevant_share, slab_scale
        Settings of the horseshoe: the expected share of functionals that matter, above 0 and below 1, and the scale of
        the weights of these functionals.
    temperature
        Temperature, above 0 and at most 1: draws are from the posterior to the power 1 / temperature. None: 1/64, or 1
        with the horseshoe.
    temper
        Factor by which logits are multiplied. None: the factor is learned by leaving out training speakers in turn.
    class_prior
        Weights in training. "uniform": all classes have the same weight, however many recordings they have; "observed":
        all recordings have the same weight.
    classes
        Names of the classes, in the order of `classes_`; recordings of other classes are left out. None: all classes
        that occur, sorted.
    chains, warmup, draws
        Number of Markov chains, number of steps before the first draw (None: 150, or 400 with the horseshoe), and
        number of draws of each chain (None: 1000), of each posterior that is averaged.
    random_state
        Seed of the random numbers. None: 20260101.
    n_threads
        Number of CPU threads; 0: all. The results do not depend on the number.

    Attributes
    ----------
    classes_ [classes]
        Names of the classes.
    prior_sd_weights_
        The share of the kept draws from the posterior with each prior standard deviation, which is its weight in the
        average, rounded; without those of weight 0, and empty with the horseshoe.
    temper_
        The temper that was learned or given.
    converged_, acceptance_
        Available after `fit`: the share of (training recording, class) pairs whose chains agree (R-hat at most 1.05,
        ESS at least 100; the share should be at least 0.95), and the mean acceptance rate of the chains.
    notes_
        Available after `fit`: sentences about the recordings that were read and left out.
    sampling_rate_
        Sampling rate of the training recordings in Hz; 0: the recordings had different rates.

    >>> import emomc, numpy as np
    >>> t = np.arange(8000) / 16000
    >>> def voice(pitch, noise, seed):
    ...     rng = np.random.default_rng(seed)
    ...     return 0.1 * sum(np.sin(2 * np.pi * h * pitch * t) / h for h in range(1, 6)) + noise * rng.normal(size=len(t))
    >>> X = [voice(100 + 20 * s + 3 * i, noise, 9 * s + i) for s in range(3) for noise in (0.001, 0.05) for i in range(2)]
    >>> y = ["calm", "calm", "rough", "rough"] * 3
    >>> speakers = [name for name in "ABC" for i in range(4)]
    >>> classifier = emomc.Classifier(functionals="prosody", prior_sds=[1], chains=2, warmup=50, draws=100)
    >>> classifier.fit(X, y, speakers, sampling_rate=16000, progress=False)
    emomc.Classifier('prosody', classes=['calm', 'rough'])
    >>> classifier.predict(X[:4], sampling_rate=16000)
    array(['calm', 'calm', 'rough', 'rough'], dtype='<U5')
    """

    _model: _emomc.SoftmaxModel
    classes_: NDArray[Any]
    prior_sd_weights_: dict[float, float]
    temper_: float
    acceptance_: float
    converged_: float
    notes_: list[str]
    sampling_rate_: float

    def __init__(
        self,
        functionals: Literal["cepstra", "prosody", "full", "compact"] | None = None,
        *,
        prior: Literal["ridge", "horseshoe"] = "ridge",
        prior_sds: Sequence[float] = (1.0, 3.0, 10.0),
        relevant_share: float = 0.1,
        slab_scale: float = 0.5,
        temperature: float | None = None,
        temper: float | None = None,
        class_prior: Literal["uniform", "observed"] = "uniform",
        classes: Sequence[str] | None = None,
        chains: int = 4,
        warmup: int | None = None,
        draws: int | None = None,
        random_state: int | None = None,
        n_threads: int = 0,
    ) -> None:
        self.functionals = functionals
        self.prior = prior
        self.prior_sds = prior_sds
        self.relevant_share = relevant_share
        self.slab_scale = slab_scale
        self.temperature = temperature
        self.temper = temper
        self.class_prior = class_prior
        self.classes = classes
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.random_state = random_state
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        """Returns the tags of the estimator; only scikit-learn calls this method."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        inputs = InputTags(two_d_array=False)
        return Tags(estimator_type="classifier", target_tags=TargetTags(required=True), classifier_tags=ClassifierTags(), input_tags=inputs)

    def __repr__(self) -> str:
        fitted = f", classes={self.classes_.tolist()!r}" if hasattr(self, "classes_") else ""
        return f"emomc.Classifier({self._set_of_functionals()!r}{fitted})"

    def fit(
        self,
        X: Iterable[Any],
        y: Sequence[str],
        speakers: Sequence[str],
        *,
        sampling_rate: float | Sequence[float] | None = None,
        names: Sequence[str] | None = None,
        unreadable: Literal["refuse", "skip"] = "refuse",
        progress: bool | StageProgress | None = None,
    ) -> Classifier:
        """Trains on recordings.

        Parameters
        ----------
        X
            Recordings: paths of audio files, or arrays in the host's memory with shape samples, or samples x channels
            (channels are averaged). Full scale is 1 for floating-point samples; samples of the types int16 and int32
            are scaled.
        y
            Emotion of each recording.
        speakers
            Speaker of each recording, two or more different ones. A recording is standardised by all recordings of
            its speaker, and settings are chosen by leaving speakers out.
        sampling_rate
            Sampling rate of arrays in Hz, 16000 or more: one for all arrays, or one for each. Files contain their rate.
        names
            Distinct names of the recordings, for messages; their order affects the results. None: positions, as in
            X[3].
        unreadable
            "refuse" raises InputError for recordings that cannot be read and for copies of other recordings; "skip"
            leaves such recordings out.
        progress
            None: a line on a terminal or in a notebook. True: a line in all cases; False: no line. A function is called
            with the name of a stage, the number of items that are done, and the number of all items.

        Raises InputError if a recording or a label is not allowed. Ctrl-C raises KeyboardInterrupt.
        """
        given = Recordings.of(X, sampling_rate, names)
        labels = given.emotions(y)
        who = given.texts("speakers", speakers)
        with StageLine(progress) as show:
            model, acceptance, converged, notes = _emomc.train_softmax(
                recordings=given.items,
                names=given.names,
                emotions=labels,
                speakers=who,
                refuse=refuses(unreadable),
                options=self._options(),
                progress=show,
            )
        # One call, so that Ctrl-C cannot leave a part of the attributes.
        vars(self).update(_attributes(model), acceptance_=acceptance, converged_=converged, notes_=notes)
        return self

    def predict_proba(
        self,
        X: Iterable[Any],
        *,
        sampling_rate: float | Sequence[float] | None = None,
        speakers: Sequence[str] | None = None,
        enrolment: Iterable[Any] | None = None,
        return_std: bool = False,
    ) -> Any:
        """Returns the probabilities of the classes [recordings x classes], as `emomc classify` prints them.

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
        return_std
            Whether to return also the standard deviations of the probabilities over draws [recordings x classes].

        Raises InputError if a recording cannot be classified; the message names the recording.
        """
        threads = _arguments.integer("n_threads", self.n_threads, *_RANGES["n_threads"])
        mean, sd = predicted_by_speaker(self._fitted(), X, sampling_rate, speakers, enrolment, threads)
        return (mean, sd) if return_std else mean

    def predict(
        self,
        X: Iterable[Any],
        *,
        sampling_rate: float | Sequence[float] | None = None,
        speakers: Sequence[str] | None = None,
        enrolment: Iterable[Any] | None = None,
    ) -> NDArray[Any]:
        """Returns the most probable class of each recording [recordings]; arguments as in `predict_proba`."""
        p = self.predict_proba(X, sampling_rate=sampling_rate, speakers=speakers, enrolment=enrolment)
        return np.asarray(self.classes_[np.argmax(p, axis=1)])

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes model.json, draws.npy and rotation.npy, which `load` and `emomc classify` read.

        Raises InputError if the directory has a model and `overwrite` is False.
        """
        model = self._fitted()
        model.save(refuse_existing_model(directory, overwrite))

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Classifier:
        """Reads a classifier that `save` or `emomc train` has written.

        Options that the model does not record have their defaults; they matter only to another `fit`.

        Raises InputError if the directory has no classifier, or a damaged one.
        """
        model = _emomc.SoftmaxModel.load(_arguments.path("directory", directory))
        classifier = cls(model.functionals or None, prior=model.prior, random_state=model.seed)  # type: ignore[arg-type]
        vars(classifier).update(_attributes(model))
        return classifier

    def _fitted(self) -> _emomc.SoftmaxModel:
        if not hasattr(self, "_model"):
            raise not_fitted("Classifier", "fit or load")
        return self._model

    def _set_of_functionals(self) -> str:
        return self.functionals or ("compact" if self.prior == "horseshoe" else "full")

    def _options(self) -> _emomc.SoftmaxOptions:
        if self.prior not in ("ridge", "horseshoe"):
            raise _emomc.InputError(f"prior: {self.prior} is unknown; allowed: ridge, horseshoe")
        is_ridge = self.prior == "ridge"
        if self.functionals is not None:
            _arguments.text("functionals", self.functionals)
        counts = {
            name: _arguments.integer(name, getattr(self, name), *_RANGES[name])
            for name in _RANGES
            if getattr(self, name) is not None or name not in ("warmup", "draws")
        }
        sds = numbers_of("prior_sds", self.prior_sds)
        if not sds or not all(0 < sd <= 1000 for sd in sds):
            raise _emomc.InputError(f"prior_sds: {list(self.prior_sds)}; allowed: one or more above 0, up to 1000")
        if len(set(sds)) < len(sds):
            raise _emomc.InputError(f"prior_sds: {list(self.prior_sds)}; allowed: different numbers")
        relevant_share = _arguments.real("relevant_share", self.relevant_share)
        if not 0 < relevant_share < 1:
            raise _emomc.InputError(f"relevant_share: {self.relevant_share} is out of range; allowed: above 0 and below 1")
        slab_scale = _arguments.real("slab_scale", self.slab_scale)
        if not 0 < slab_scale <= 1000:
            raise _emomc.InputError(f"slab_scale: {self.slab_scale} is out of range; allowed: above 0, up to 1000")
        temperature = None if self.temperature is None else _arguments.real("temperature", self.temperature)
        if temperature is not None and not 0 < temperature <= 1:
            raise _emomc.InputError(f"temperature: {self.temperature} is out of range; allowed: above 0, up to 1")
        temper = None if self.temper is None else _arguments.real("temper", self.temper)
        if temper is not None and not 0 < temper <= 1000:
            raise _emomc.InputError(f"temper: {self.temper} is out of range; allowed: above 0, up to 1000, or None")
        if self.class_prior not in ("uniform", "observed"):
            raise _emomc.InputError(f"class_prior: {self.class_prior} is unknown; allowed: uniform, observed")
        if isinstance(self.classes, str):
            raise _emomc.InputError(f"classes: {self.classes!r}; allowed: a list of names, or None")
        classes = [] if self.classes is None else [str(name) for name in _arguments.elements("classes", self.classes, "names")]
        if len(set(classes)) < len(classes) or (self.classes is not None and not classes):
            raise _emomc.InputError(f"classes: {classes}; allowed: one or more different names, or None")
        return _emomc.SoftmaxOptions.of(
            functionals=self._set_of_functionals(),
            class_prior=self.class_prior,
            prior=self.prior,
            prior_sds=sds,
            relevant_share=relevant_share,
            slab_scale=slab_scale,
            temperature=(1 / 64 if is_ridge else 1.0) if temperature is None else temperature,
            temper=temper,
            chains=counts["chains"],
            warmup=counts.get("warmup", _emomc.ridge_warmup if is_ridge else _emomc.horseshoe_warmup),
            draws=counts.get("draws", _emomc.softmax_draws),
            seed=seed_of(self.random_state),
            threads=counts["n_threads"],
            classes=classes,
        )


def _attributes(model: _emomc.SoftmaxModel) -> dict[str, Any]:
    """Returns the attributes of a fitted classifier."""
    return {
        "_model": model,
        "classes_": np.array(model.classes),
        "prior_sd_weights_": model.prior_sd_weights,
        "temper_": model.temper,
        "sampling_rate_": model.sample_rate,
    }

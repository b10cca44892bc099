"""Emotions of recordings: softmax regression on functionals, evaluated over speakers and trained."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _emomc
from ._data import _array
from ._estimator import Estimator, not_fitted

_Floats = NDArray[np.float64]
#: The name of a stage, what is done of it, and all of it
StageProgress = Callable[[str, int, int], Any]

# What is allowed of each option: the least and the most.
_RANGES: dict[str, tuple[float, float]] = {
    "chains": (2, 100_000),
    "warmup": (10, 100_000),
    "draws": (10, 100_000),
    "n_threads": (0, 4096),
}


@dataclass(frozen=True)
class Corpus:
    """Recordings with their labels, in the order of their names; see `list_corpus`.

    `recordings` are paths, `labels` emotions, `speakers` the corpus's names of speakers, `names` distinct, `unparsed`
    files that are left out, each with the reason.

    >>> import emomc
    >>> corpus = emomc.Corpus(["a.wav"], ["anger"], ["03"], ["a"], [])
    >>> corpus.labels
    ['anger']
    """

    recordings: list[str]
    labels: list[str]
    speakers: list[str]
    names: list[str]
    unparsed: list[str]


def list_corpus(kind: str, path: str | os.PathLike[str]) -> Corpus:
    """The recordings of a corpus below `path`, by the names of its files (docs/corpora.md).

    `kind`: emodb, ravdess, cremad, tess, savee, iemocap, folders or manifest. Raises InputError.

    >>> import emomc
    >>> emomc.list_corpus("emodb", "nowhere")
    Traceback (most recent call last):
    ...
    emomc._emomc.InputError: nowhere: there is no such file or folder
    """
    utterances, unparsed = _emomc.list_corpus(kind, os.fspath(path))
    return Corpus(
        recordings=[file for _, _, _, file in utterances],
        labels=[emotion for _, _, emotion, _ in utterances],
        speakers=[speaker for _, speaker, _, _ in utterances],
        names=[name for name, _, _, _ in utterances],
        unparsed=unparsed,
    )


class Classifier(Estimator):
    """Probabilities of the emotions of recordings: softmax regression on functionals, as a posterior.

    The classifier is that of `emomc train` with the same recordings, options and seed, bit for bit; docs/softmax.md has
    its formulas.

    Parameters
    ----------
    functionals
        What is seen of a recording: "cepstra", "prosody" or "full".
    prior_sds
        Prior standard deviations of a logit, of which one is chosen by leaving out training speakers in turn.
    temperature
        Draws are from the posterior to the power 1 / temperature; above 0, up to 1.
    temper
        A factor of logits. None: learned from training speakers left out in turn.
    class_prior
        "uniform": each class counts alike in training, however many recordings it has; "observed": each recording does.
    classes
        In this order; other recordings are left out. None: all that occur, sorted.
    chains, warmup, draws
        Markov chains of the posterior, steps that are not kept, and kept steps of each chain.
    random_state
        The seed. None: 20260101.
    n_threads
        Of the CPU; 0: all. The results do not depend on it.

    Attributes
    ----------
    classes_ [classes]
        Their names.
    prior_sd_, temper_
        Those that were chosen and learned.
    converged_, acceptance_
        After `fit`: the share of (training recording, class) pairs whose chains agree (R-hat at most 1.05, ESS at least
        100; 0.95 is asked for), and the chains' mean acceptance rate.
    notes_
        After `fit`: what was read and left out.
    sampling_rate_
        Of the training recordings, in Hz; 0: they differed.

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

    def __init__(
        self,
        functionals: Literal["cepstra", "prosody", "full"] = "full",
        *,
        prior_sds: Sequence[float] = (1.0, 2.0, 3.0, 6.0, 10.0, 18.0),
        temperature: float = 1 / 64,
        temper: float | None = None,
        class_prior: Literal["uniform", "observed"] = "uniform",
        classes: Sequence[str] | None = None,
        chains: int = 4,
        warmup: int = 150,
        draws: int = 750,
        random_state: int | None = None,
        n_threads: int = 0,
    ) -> None:
        self.functionals = functionals
        self.prior_sds = prior_sds
        self.temperature = temperature
        self.temper = temper
        self.class_prior = class_prior
        self.classes = classes
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.random_state = random_state
        self.n_threads = n_threads

    def __repr__(self) -> str:
        fitted = f", classes={self.classes_.tolist()!r}" if hasattr(self, "classes_") else ""
        return f"emomc.Classifier({self.functionals!r}{fitted})"

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
            Recordings: paths of audio files, or arrays in the host's memory, samples or samples x channels, of which the
            mean is taken. Full scale is 1 for floating-point samples; those of 16 and 32 bits are scaled.
        y
            Their emotions.
        speakers
            Their speakers: each is standardised by all recordings of theirs, and settings are chosen by leaving speakers
            out. Three or more.
        sampling_rate
            Of arrays, in Hz: one for all, or one each; 16000 or more. Files have their own.
        names
            Distinct names, for messages; results depend on their order. None: numbers.
        unreadable
            "skip" leaves out recordings that cannot be read and copies of others.
        progress
            None: a line on a terminal or in a notebook. True: always; False: never. A function is called with a stage, what
            is done of it and all of it.

        Raises InputError where a recording or a label is not allowed. Ctrl-C raises KeyboardInterrupt.
        """
        given = _Recordings.of(X, sampling_rate, names)
        labels = given.texts("y", y)
        who = given.texts("speakers", speakers)
        with _Line(progress) as show:
            self._model, self.acceptance_, self.converged_, self.notes_ = _emomc.train_softmax(
                recordings=given.items,
                names=given.names,
                emotions=labels,
                speakers=who,
                refuse=_refuse(unreadable),
                options=self._options(),
                progress=show,
            )
        self._set()
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
        """The probabilities of the classes [recordings x classes], as `emomc classify` prints them.

        Parameters
        ----------
        X, sampling_rate
            As of `fit`. A single recording is a list of one.
        speakers
            Of X: recordings of one speaker are standardised together. None: all are taken to be of one speaker.
        enrolment
            Other recordings of the speaker of X, of the same sampling rate, by which each recording of X is standardised
            alone.
        return_std
            Also the standard deviations of the probabilities over draws [recordings x classes].

        Raises InputError where a recording cannot be classified, and names it.
        """
        model = self._fitted()
        if speakers is not None and enrolment is not None:
            raise _emomc.InputError("speakers, enrolment: both are given; allowed: one of them")
        given = _Recordings.of(X, sampling_rate, None)
        rows, frames = model.rows(given.items, given.names, int(self.n_threads))
        mean = np.empty((len(rows), len(self.classes_)))
        sd = np.empty_like(mean)
        if enrolment is not None:
            rate = sampling_rate if sampling_rate is None or np.ndim(sampling_rate) == 0 else None
            others = _Recordings.of(enrolment, rate, None, what="enrolment")
            known, _ = model.rows(others.items, others.names, int(self.n_threads))
            mean, sd = model.classify_by_enrolment(rows, frames, known)
        else:
            who = np.array(given.texts("speakers", speakers if speakers is not None else [""] * len(rows)), dtype=object)
            for speaker in dict.fromkeys(who):
                own = np.flatnonzero(who == speaker)
                mean[own], sd[own] = model.classify_speaker(
                    np.ascontiguousarray(rows[own]), [frames[i] for i in own]
                )
        return (mean, sd) if return_std else mean

    def predict(
        self,
        X: Iterable[Any],
        *,
        sampling_rate: float | Sequence[float] | None = None,
        speakers: Sequence[str] | None = None,
        enrolment: Iterable[Any] | None = None,
    ) -> NDArray[Any]:
        """The most probable class of each recording [recordings]; arguments as of `predict_proba`."""
        p = self.predict_proba(X, sampling_rate=sampling_rate, speakers=speakers, enrolment=enrolment)
        return np.asarray(self.classes_[np.argmax(p, axis=1)])

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes model.json, draws.npy and rotation.npy, which `load` and `emomc classify` read.

        Raises InputError where the directory has a model and `overwrite` is False.
        """
        model = self._fitted()
        path = os.fspath(directory)
        if not overwrite and os.path.lexists(os.path.join(path, "model.json")):
            raise _emomc.InputError(f"{path}: has a model; allowed: overwrite=True, or another directory")
        model.save(path)

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Classifier:
        """The classifier that `save` or `emomc train` wrote. Raises InputError where there is none, or it is damaged."""
        model = _emomc.SoftmaxModel.load(os.fspath(directory))
        classifier = cls(model.functionals or "full", random_state=model.seed)  # type: ignore[arg-type]
        classifier._model = model
        classifier._set()
        return classifier

    def _set(self) -> None:
        model: _emomc.SoftmaxModel = self._model
        self.classes_ = np.array(model.classes)
        self.prior_sd_, self.temper_, self.sampling_rate_ = model.prior_sd, model.temper, model.sample_rate

    def _fitted(self) -> _emomc.SoftmaxModel:
        if not hasattr(self, "_model"):
            raise not_fitted("Classifier", "fit or load")
        return self._model

    def _options(self) -> _emomc.SoftmaxOptions:
        for name, (least, most) in _RANGES.items():
            if not least <= int(getattr(self, name)) <= most:
                raise _emomc.InputError(f"{name}: {getattr(self, name)} is out of range; allowed: {least} to {most}")
        sds = [float(sd) for sd in self.prior_sds]
        if not sds or not all(0 < sd <= 1000 for sd in sds):
            raise _emomc.InputError(f"prior_sds: {list(self.prior_sds)}; allowed: one or more above 0, up to 1000")
        if not 0 < self.temperature <= 1:
            raise _emomc.InputError(f"temperature: {self.temperature} is out of range; allowed: above 0, up to 1")
        if self.temper is not None and not 0 < self.temper <= 1000:
            raise _emomc.InputError(f"temper: {self.temper} is out of range; allowed: above 0, up to 1000, or None")
        if self.class_prior not in ("uniform", "observed"):
            raise _emomc.InputError(f"class_prior: {self.class_prior} is unknown; allowed: uniform, observed")
        if isinstance(self.classes, str):
            raise _emomc.InputError(f"classes: {self.classes!r}; allowed: a list of names, or None")
        return _emomc.SoftmaxOptions.of(
            functionals=self.functionals,
            class_prior=self.class_prior,
            prior_sds=sds,
            temperature=float(self.temperature),
            temper=None if self.temper is None else float(self.temper),
            chains=int(self.chains),
            warmup=int(self.warmup),
            draws=int(self.draws),
            seed=20260101 if self.random_state is None else int(self.random_state),
            threads=int(self.n_threads),
            classes=[str(name) for name in self.classes or ()],
        )


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What `evaluate` finds. Rows are recordings in the order of speakers and classes.

    Attributes
    ----------
    scores
        What `emomc evaluate` writes to scores.json: scores["posterior"]["uar"], ...
    classes, names, speakers, truth, predicted
        Names of the classes; of each recording its name, its speaker, its emotion and the most probable one.
    probabilities, sd, penalised [recordings x classes]
        Probabilities as means over draws, their standard deviations over draws, and the probabilities by the penalised
        fit.
    notes
        What was read and left out.

    >>> import emomc, numpy as np
    >>> one = np.array([[0.75, 0.25]])
    >>> evaluation = emomc.Evaluation({"posterior": {"uar": 1.0, "log_loss": 0.29}}, ["calm", "rough"], ["a"], ["A"],
    ...                               ["calm"], ["calm"], one, one, one, [])
    >>> evaluation
    emomc.Evaluation(1 recording, UAR 1.000, log loss 0.290)
    """

    scores: dict[str, Any]
    classes: list[str]
    names: list[str]
    speakers: list[str]
    truth: list[str]
    predicted: list[str]
    probabilities: _Floats
    sd: _Floats
    penalised: _Floats
    notes: list[str]

    @property
    def uar(self) -> float:
        """The unweighted average recall of the posterior."""
        return float(self.scores["posterior"]["uar"])

    @property
    def log_loss(self) -> float:
        """The mean of -log p(truth) of the posterior."""
        return float(self.scores["posterior"]["log_loss"])

    def columns(self) -> dict[str, Any]:
        """What predictions.csv has, for pandas.DataFrame: utterance, speaker, truth, predicted, p_<class>."""
        table: dict[str, Any] = {
            "utterance": self.names,
            "speaker": self.speakers,
            "truth": self.truth,
            "predicted": self.predicted,
        }
        return table | {f"p_{name}": self.probabilities[:, k] for k, name in enumerate(self.classes)}

    def __repr__(self) -> str:
        count = len(self.names)
        what = f"{count} recording" + ("" if count == 1 else "s")
        return f"emomc.Evaluation({what}, UAR {self.uar:.3f}, log loss {self.log_loss:.3f})"


def evaluate(
    classifier: Classifier,
    X: Iterable[Any],
    y: Sequence[str],
    speakers: Sequence[str],
    *,
    folds: int | Sequence[str] | None = None,
    sampling_rate: float | Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    unreadable: Literal["refuse", "skip"] = "refuse",
    progress: bool | StageProgress | None = None,
) -> Evaluation:
    """Evaluates a classifier on speakers that it was not trained on, as `emomc evaluate` does, bit for bit.

    `folds`: None leaves out one speaker at a time, a number groups speakers into so many folds, names are the test speakers
    of a single fold. Other arguments are those of `Classifier.fit`; the classifier itself is not changed. For results of
    `emomc evaluate` on a corpus, `names` are those of `list_corpus`.

    Raises InputError where a recording, a label or the folds are not allowed. Ctrl-C raises KeyboardInterrupt.

    >>> import emomc
    >>> emomc.evaluate(emomc.Classifier(), [[0.0, 0.5]], ["calm"], ["A"], sampling_rate=16000, progress=False)
    Traceback (most recent call last):
    ...
    emomc._emomc.InputError: corpus: no utterance has a frame
    """
    given = _Recordings.of(X, sampling_rate, names)
    labels = given.texts("y", y)
    who = given.texts("speakers", speakers)
    if isinstance(folds, str):
        raise _emomc.InputError(f"folds: {folds!r}; allowed: None, a number, or a list of speakers")
    count = folds if isinstance(folds, int) else 0
    if isinstance(folds, int) and folds < 2:
        raise _emomc.InputError(f"folds: {folds} is out of range; allowed: 2 or more")
    tests = [] if folds is None or isinstance(folds, int) else [str(name) for name in folds]
    with _Line(progress) as show:
        scores, ids, posterior, penalised, sd, notes = _emomc.evaluate_softmax(
            recordings=given.items,
            names=given.names,
            emotions=labels,
            speakers=who,
            refuse=_refuse(unreadable),
            folds="leave_one_out" if folds is None else "k" if count else "speakers",
            count=count,
            test_speakers=tests,
            options=classifier._options(),
            progress=show,
        )
    place = {name: i for i, name in enumerate(given.names)}
    parsed: dict[str, Any] = json.loads(scores)
    classes: list[str] = parsed["classes"]
    return Evaluation(
        scores=parsed,
        classes=classes,
        names=ids,
        speakers=[who[place[name]] for name in ids],
        truth=[labels[place[name]] for name in ids],
        predicted=[classes[k] for k in np.argmax(posterior, axis=1)],
        probabilities=posterior,
        sd=sd,
        penalised=penalised,
        notes=notes,
    )


class _Recordings:
    """Recordings as the extension module takes them: paths, or samples x channels with their rate."""

    def __init__(self, items: list[Any], names: list[str]) -> None:
        self.items = items
        self.names = names

    @classmethod
    def of(cls, X: Any, rate: float | Sequence[float] | None, names: Sequence[str] | None, what: str = "X") -> _Recordings:
        if isinstance(X, str | bytes | os.PathLike | Mapping):
            raise _emomc.InputError(f"{what}: {type(X).__name__}; allowed: a list of recordings")
        given = list(X)
        if not given:
            raise _emomc.InputError(f"{what}: there are no recordings")
        if np.ndim(rate or 0) > 0 and len(np.asarray(rate)) != len(given):
            raise _emomc.InputError(f"sampling_rate: {len(np.asarray(rate))} rates of {len(given)} recordings")
        rates = [rate] * len(given) if np.ndim(rate or 0) == 0 else list(np.asarray(rate, dtype=float))
        items = [_item(f"{what}[{i}]", one, rates[i]) for i, one in enumerate(given)]
        width = len(str(len(given)))
        called = [f"{what}[{i:0{width}}]" for i in range(len(given))] if names is None else [str(name) for name in names]
        if len(called) != len(given):
            raise _emomc.InputError(f"names: {len(called)} names of {len(given)} recordings")
        if len(set(called)) != len(called):
            twice = next(name for name in called if called.count(name) > 1)
            raise _emomc.InputError(f"names: {twice!r} occurs twice; allowed: distinct names")
        return cls(items, called)

    def texts(self, what: str, values: Sequence[Any]) -> list[str]:
        """A label for each recording."""
        if isinstance(values, str | bytes):
            raise _emomc.InputError(f"{what}: a text; allowed: a list, with one of each recording")
        texts = [str(value) for value in values]
        if len(texts) != len(self.items):
            raise _emomc.InputError(f"{what}: {len(texts)} of {len(self.items)} recordings")
        return texts


def _item(what: str, one: Any, rate: Any) -> Any:
    if isinstance(one, str | os.PathLike):
        return os.fspath(one)
    samples = _array(what, one)
    if samples.ndim not in (1, 2):
        raise _emomc.InputError(f"{what}: an array with {samples.ndim} axes; allowed: samples, or samples x channels")
    if samples.ndim == 2 and samples.shape[1] > samples.shape[0]:
        raise _emomc.InputError(
            f"{what}: {samples.shape[0]} samples of {samples.shape[1]} channels; allowed: samples x channels"
        )
    if rate is None:
        raise _emomc.InputError(f"{what}: an array without a rate; allowed: sampling_rate=, in Hz")
    if samples.dtype.kind == "f":
        scaled = samples.astype(np.float64, copy=False)
    elif samples.dtype in (np.int16, np.int32):
        scaled = samples / -float(np.iinfo(samples.dtype).min)
    else:
        raise _emomc.InputError(f"{what}: samples of type {samples.dtype}; allowed: floating-point, int16, int32")
    return np.ascontiguousarray(scaled.reshape(len(scaled), -1)), float(rate)


def _refuse(unreadable: str) -> bool:
    if unreadable not in ("refuse", "skip"):
        raise _emomc.InputError(f"unreadable: {unreadable!r} is unknown; allowed: refuse, skip")
    return unreadable == "refuse"


class _Line:
    """Progress of stages: a line that is redrawn, or a function of the caller's."""

    def __init__(self, progress: bool | StageProgress | None) -> None:
        from ._sample import _is_interactive, _Line as Drawn

        shown = progress is True or (progress is None and _is_interactive())
        self._line = Drawn() if shown else None
        self._call = progress if callable(progress) else None

    def __enter__(self) -> StageProgress | None:
        if self._line:
            return lambda stage, done, all_: self._line.draw(f"{stage}: {done} of {all_}")  # type: ignore[union-attr]
        return self._call

    def __exit__(self, *_: object) -> None:
        if self._line:
            self._line.end()

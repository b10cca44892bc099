"""Evaluation of a classifier or a regressor on speakers that it was not trained on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _emomc
from ._classifier import Classifier
from ._progress import StageLine, StageProgress
from ._recordings import Recordings, refuses
from ._regressor import Regressor, numbers_of_dimensions

_Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Results of `evaluate` for a classifier. Recordings are in the order of speakers and classes.

    Attributes
    ----------
    scores
        Scores that `emomc evaluate` writes to scores.json: scores["posterior"]["uar"], ...
    classes, names, speakers, truth, predicted
        Names of the classes; and for each recording the name, the speaker, the emotion and the most probable emotion.
    probabilities, sd, penalised [recordings x classes]
        Means of the probabilities over draws, their standard deviations over draws, and the probabilities according to
        the penalised fit.
    notes
        Sentences about the recordings that were read and left out.

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
        """The mean of -log p(truth) of the posterior, in nats."""
        return float(self.scores["posterior"]["log_loss"])

    def columns(self) -> dict[str, Any]:
        """Returns the columns of predictions.csv by name: utterance, speaker, truth, predicted, p_<class>."""
        table: dict[str, Any] = {
            "utterance": self.names,
            "speaker": self.speakers,
            "truth": self.truth,
            "predicted": self.predicted,
        }
        return table | {f"p_{name}": self.probabilities[:, k] for k, name in enumerate(self.classes)}

    def __repr__(self) -> str:
        return f"emomc.Evaluation({_recordings(len(self.names))}, UAR {self.uar:.3f}, log loss {self.log_loss:.3f})"


@dataclass(frozen=True, repr=False)
class NumberEvaluation:
    """Results of `evaluate` for a regressor. Recordings are in the order of speakers.

    Attributes
    ----------
    scores
        Scores that `emomc evaluate` writes to scores.json: scores["regression"]["arousal"]["ccc"], ...
        (docs/regression.md)
    dimensions, names, speakers
        Names of the dimensions; and for each recording the name and the speaker.
    truth, mean, scale, sd, log_density [recordings x dimensions]
        True numbers; mean, scale and standard deviation of the predictive distributions, which are Student's t
        distributions; and their log densities at the true numbers.
    interval [recordings x dimensions x 2]
        Ends of the central intervals with probability 0.9.
    notes
        Sentences about the recordings that were read and left out.

    >>> import emomc, numpy as np
    >>> one = np.array([[1.0]])
    >>> evaluation = emomc.NumberEvaluation({"regression": {"arousal": {"ccc": 0.5, "rmse": 0.1}}}, ["arousal"], ["a"],
    ...                                     ["A"], one, one, one, one, np.array([[[0.0, 2.0]]]), one, [])
    >>> evaluation
    emomc.NumberEvaluation(1 recording, CCC 0.500 of arousal)
    >>> evaluation.rmse
    {'arousal': 0.1}
    """

    scores: dict[str, Any]
    dimensions: list[str]
    names: list[str]
    speakers: list[str]
    truth: _Floats
    mean: _Floats
    scale: _Floats
    sd: _Floats
    interval: _Floats
    log_density: _Floats
    notes: list[str]

    @property
    def ccc(self) -> dict[str, float]:
        """The concordance correlation coefficient of each dimension, by name; NaN: it is not defined."""
        return self._score("ccc")

    @property
    def rmse(self) -> dict[str, float]:
        """The root mean squared error of each dimension, by name, in the unit of the numbers."""
        return self._score("rmse")

    def columns(self) -> dict[str, Any]:
        """Returns the columns of predictions.csv by name.

        These are utterance and speaker; and for a dimension such as arousal: arousal, arousal_mean, arousal_sd,
        arousal_low, arousal_high and arousal_log_density.
        """
        table: dict[str, Any] = {"utterance": self.names, "speaker": self.speakers}
        for d, name in enumerate(self.dimensions):
            table[name] = self.truth[:, d]
            table |= {f"{name}_mean": self.mean[:, d], f"{name}_sd": self.sd[:, d]}
            table |= {f"{name}_low": self.interval[:, d, 0], f"{name}_high": self.interval[:, d, 1]}
            table[f"{name}_log_density"] = self.log_density[:, d]
        return table

    def _score(self, name: str) -> dict[str, float]:
        found = {dimension: self.scores["regression"][dimension][name] for dimension in self.dimensions}
        return {dimension: float("nan") if value is None else float(value) for dimension, value in found.items()}

    def __repr__(self) -> str:
        told = ", ".join(f"CCC {ccc:.3f} of {name}" for name, ccc in self.ccc.items())
        return f"emomc.NumberEvaluation({_recordings(len(self.names))}, {told})"


@overload
def evaluate(
    estimator: Classifier,
    X: Iterable[Any],
    y: Sequence[str],
    speakers: Sequence[str],
    *,
    folds: int | Sequence[str] | Mapping[str, Any] | None = None,
    by: Mapping[str, Any] | None = None,
    sampling_rate: float | Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    unreadable: Literal["refuse", "skip"] = "refuse",
    progress: bool | StageProgress | None = None,
) -> Evaluation: ...
@overload
def evaluate(
    estimator: Regressor,
    X: Iterable[Any],
    y: Any,
    speakers: Sequence[str],
    *,
    folds: int | Sequence[str] | Mapping[str, Any] | None = None,
    by: Mapping[str, Any] | None = None,
    sampling_rate: float | Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    unreadable: Literal["refuse", "skip"] = "refuse",
    progress: bool | StageProgress | None = None,
) -> NumberEvaluation: ...
def evaluate(
    estimator: Classifier | Regressor,
    X: Iterable[Any],
    y: Any,
    speakers: Sequence[str],
    *,
    folds: int | Sequence[str] | Mapping[str, Any] | None = None,
    by: Mapping[str, Any] | None = None,
    sampling_rate: float | Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    unreadable: Literal["refuse", "skip"] = "refuse",
    progress: bool | StageProgress | None = None,
) -> Evaluation | NumberEvaluation:
    """Evaluates a Classifier or a Regressor on speakers that it was not trained on, as `emomc evaluate` does.

    The numbers equal those of `emomc evaluate`, bit for bit. The result is an Evaluation or a NumberEvaluation.

    `folds`: None leaves out one speaker at a time; a number groups the speakers into this number of folds; a list of
    names gives the test speakers of a single fold. `{"file": "folds.csv"}` reads folds from a CSV file about recordings
    (by name) or speakers. Its further keys are those of `emomc evaluate` (docs/emotion.md): "column" (default "fold"),
    and "test", a list of values that are tested together. `by={"columns": ["gender"], "file": "speakers.csv"}` adds
    scores for the values of columns of such a file, in scores["posterior"]["by"], or scores["by"] of a regressor. The
    other arguments are those of `Classifier.fit` and `Regressor.fit`; the estimator itself is not changed. To reproduce
    the results of `emomc evaluate` on a corpus, give the `names` of `list_corpus`.

    Raises InputError if a recording, a label, a number, the folds or a CSV file are not allowed, and TypeError for
    another estimator. Ctrl-C raises KeyboardInterrupt.

    >>> import emomc
    >>> emomc.evaluate(emomc.Classifier(), [[0.0, 0.5]], ["calm"], ["A"], sampling_rate=16000, progress=False)
    Traceback (most recent call last):
    ...
    emomc._emomc.InputError: corpus: no utterance has a frame
    """
    if not isinstance(estimator, Classifier | Regressor):
        raise TypeError(f"estimator: a value of type {type(estimator).__name__}; allowed: a Classifier, or a Regressor")
    given = Recordings.of(X, sampling_rate, names)
    who = given.texts("speakers", speakers)
    kind, count, tests, file, column = _folds(folds)
    by_columns, by_file = _by(by)
    common: dict[str, Any] = {
        "recordings": given.items,
        "names": given.names,
        "speakers": who,
        "refuse": refuses(unreadable),
        "folds": kind,
        "count": count,
        "tests": tests,
        "folds_file": file,
        "folds_column": column,
        "by_columns": by_columns,
        "by_file": by_file,
    }
    speaker_of = dict(zip(given.names, who, strict=True))
    if isinstance(estimator, Regressor):
        dimensions, numbers = numbers_of_dimensions(y, given.names)
        with StageLine(progress) as show:
            scores, ids, arrays, notes = _emomc.evaluate_regression(
                **common, numbers=numbers, options=estimator._options(dimensions), progress=show
            )
        truth, mean, scale, sd, low, high, log_density = arrays
        return NumberEvaluation(
            scores=json.loads(scores),
            dimensions=dimensions,
            names=ids,
            speakers=[speaker_of[name] for name in ids],
            truth=truth,
            mean=mean,
            scale=scale,
            sd=sd,
            interval=np.stack([low, high], axis=-1),
            log_density=log_density,
            notes=notes,
        )
    labels = given.emotions(y)
    with StageLine(progress) as show:
        scores, ids, posterior, penalised, sd, notes = _emomc.evaluate_softmax(
            **common, emotions=labels, options=estimator._options(), progress=show
        )
    label_of = dict(zip(given.names, labels, strict=True))
    parsed: dict[str, Any] = json.loads(scores)
    classes: list[str] = parsed["classes"]
    return Evaluation(
        scores=parsed,
        classes=classes,
        names=ids,
        speakers=[speaker_of[name] for name in ids],
        truth=[label_of[name] for name in ids],
        predicted=[classes[k] for k in np.argmax(posterior, axis=1)],
        probabilities=posterior,
        sd=sd,
        penalised=penalised,
        notes=notes,
    )


def _recordings(count: int) -> str:
    return f"{count} recording" + ("" if count == 1 else "s")


def _folds(folds: int | Sequence[str] | Mapping[str, Any] | None) -> tuple[str, int, list[str], str, str]:
    """Returns the kind and number of folds, the test speakers or values, and the file and column of folds."""
    if folds is None:
        return "leave_one_out", 0, [], "", ""
    if isinstance(folds, str | bytes) or (isinstance(folds, float) or not isinstance(folds, Iterable | SupportsIndex)):
        raise _emomc.InputError(
            f'folds: {folds!r}; allowed: None, a number, a list of speakers, or {{"file": "folds.csv"}}'
        )
    if isinstance(folds, SupportsIndex) and not isinstance(folds, np.ndarray):
        return "k", _arguments.integer("folds", folds, 2, _arguments.MOST_INT), [], "", ""
    if not isinstance(folds, Mapping):
        return "speakers", 0, [str(name) for name in folds], "", ""
    _check_keys("folds", folds, ("file", "column", "test"))
    return "file", 0, _texts("folds.test", folds.get("test", [])), _path("folds", folds), str(folds.get("column", "fold"))


def _by(by: Mapping[str, Any] | None) -> tuple[list[str], str]:
    """Returns the columns whose values are scored separately, and the file with these columns."""
    if by is None:
        return [], ""
    if not isinstance(by, Mapping):
        raise _emomc.InputError(f'by: {by!r}; allowed: {{"columns": ["gender"], "file": "speakers.csv"}}')
    _check_keys("by", by, ("columns", "file"))
    columns = _texts("by.columns", by.get("columns", []))
    if not columns:
        raise _emomc.InputError("by.columns: none; allowed: one or more columns of by.file")
    return columns, _path("by", by)


def _check_keys(argument: str, given: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for key in given:
        if key not in allowed:
            raise _emomc.InputError(f"{argument}: {key!r} is unknown; allowed: {', '.join(allowed)}")


def _texts(key: str, values: Any) -> list[str]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise _emomc.InputError(f"{key}: {values!r}; allowed: a list")
    return [str(value) for value in values]


def _path(argument: str, given: Mapping[str, Any]) -> str:
    if not given.get("file"):
        raise _emomc.InputError(f'{argument}: "file" is missing; it names a CSV about recordings or speakers')
    return _arguments.path(f"{argument}.file", given["file"])

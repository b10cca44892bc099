"""Evaluation of a classifier on speakers that it was not trained on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _emomc
from ._classifier import Classifier
from ._progress import StageLine, StageProgress
from ._recordings import Recordings, refuses

_Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Results of `evaluate`. Recordings are in the order of speakers and classes.

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
        count = len(self.names)
        what = f"{count} recording" + ("" if count == 1 else "s")
        return f"emomc.Evaluation({what}, UAR {self.uar:.3f}, log loss {self.log_loss:.3f})"


def evaluate(
    classifier: Classifier,
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
) -> Evaluation:
    """Evaluates a classifier on speakers that it was not trained on, as `emomc evaluate` does, bit for bit.

    `folds`: None leaves out one speaker at a time; a number groups the speakers into this number of folds; a list of
    names gives the test speakers of a single fold. `{"file": "folds.csv"}` reads folds from a CSV file about recordings
    (by name) or speakers. Its further keys are those of `emomc evaluate` (docs/emotion.md): "column" (default "fold"),
    and "test", a list of values that are tested together. `by={"columns": ["gender"], "file": "speakers.csv"}` adds
    scores for the values of columns of such a file, in scores["posterior"]["by"]. The other arguments are those of
    `Classifier.fit`; the classifier itself is not changed. To reproduce the results of `emomc evaluate` on a corpus,
    give the `names` of `list_corpus`.

    Raises InputError if a recording, a label, the folds or a CSV file are not allowed. Ctrl-C raises KeyboardInterrupt.

    >>> import emomc
    >>> emomc.evaluate(emomc.Classifier(), [[0.0, 0.5]], ["calm"], ["A"], sampling_rate=16000, progress=False)
    Traceback (most recent call last):
    ...
    emomc._emomc.InputError: corpus: no utterance has a frame
    """
    if not isinstance(classifier, Classifier):
        raise _emomc.InputError(
            f"classifier: {type(classifier).__name__}; allowed: a Classifier; regressions of numbers are evaluated by the "
            "program, emomc evaluate (docs/regression.md)"
        )
    given = Recordings.of(X, sampling_rate, names)
    labels = given.emotions(y)
    who = given.texts("speakers", speakers)
    kind, count, tests, file, column = _folds(folds)
    by_columns, by_file = _by(by)
    with StageLine(progress) as show:
        scores, ids, posterior, penalised, sd, notes = _emomc.evaluate_softmax(
            recordings=given.items,
            names=given.names,
            emotions=labels,
            speakers=who,
            refuse=refuses(unreadable),
            folds=kind,
            count=count,
            tests=tests,
            folds_file=file,
            folds_column=column,
            by_columns=by_columns,
            by_file=by_file,
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


def _folds(folds: int | Sequence[str] | Mapping[str, Any] | None) -> tuple[str, int, list[str], str, str]:
    """Returns the kind and number of folds, the test speakers or values, and the file and column of folds."""
    if folds is None:
        return "leave_one_out", 0, [], "", ""
    if isinstance(folds, int):
        if folds < 2:
            raise _emomc.InputError(f"folds: {folds} is out of range; allowed: 2 or more")
        return "k", folds, [], "", ""
    if isinstance(folds, str):
        raise _emomc.InputError(
            f'folds: {folds!r}; allowed: None, a number, a list of speakers, or {{"file": "folds.csv"}}'
        )
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
    if isinstance(values, str):
        raise _emomc.InputError(f"{key}: {values!r}; allowed: a list")
    return [str(value) for value in values]


def _path(argument: str, given: Mapping[str, Any]) -> str:
    if not given.get("file"):
        raise _emomc.InputError(f'{argument}: "file" is missing; it names a CSV about recordings or speakers')
    return str(os.fspath(given["file"]))

"""Corpora of recordings, by the names of their files."""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import _emomc


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

"""Lists the recordings of corpora, whose labels are in the names of files."""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import _arguments, _emomc


@dataclass(frozen=True)
class Corpus:
    """Recordings with their labels, in the order of their names; see `list_corpus`.

    Lists with one element for each recording are `recordings` (paths), `labels` (emotions), `speakers` (the corpus's
    names of speakers) and `names` (distinct names). `unparsed` lists the files that are left out, each with the reason.

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
    """Lists the recordings of a corpus below `path`, with labels from the names of files (docs/corpora.md).

    `kind` is one of emodb, ravdess, cremad, tess, savee, iemocap, folders and manifest. Raises InputError if the kind
    is unknown or the corpus cannot be read.

    >>> import emomc
    >>> emomc.list_corpus("emodb", "nowhere")
    Traceback (most recent call last):
    ...
    emomc._emomc.InputError: nowhere: there is no such file or folder
    """
    utterances, unparsed = _emomc.list_corpus(_arguments.text("kind", kind), _arguments.path("path", path))
    return Corpus(
        recordings=[file for _, _, _, file in utterances],
        labels=[emotion for _, _, emotion, _ in utterances],
        speakers=[speaker for _, speaker, _, _ in utterances],
        names=[name for name, _, _, _ in utterances],
        unparsed=unparsed,
    )

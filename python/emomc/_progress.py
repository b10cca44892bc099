"""Shows progress on a terminal or in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import _arguments

#: A function of the step, the number of steps, the step at which warm-up ends, the mean acceptance rate, and seconds.
Progress = Callable[[int, int, int, float, float], Any]
#: A function of the name of a stage, the number of items that are done, and the number of all items.
StageProgress = Callable[[str, int, int], Any]


def is_interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class Line:
    """A line on stderr that shows the progress of sampling, and is redrawn at most five times a second."""

    def __init__(self) -> None:
        self._last = 0.0
        self._width = 0

    def show(self, step: int, steps: int, warmup: int, acceptance: float, seconds: float) -> None:
        if seconds - self._last < 0.2:
            return
        self._last = seconds
        phase = "warm-up" if step <= warmup else "sampling"
        self.draw(f"{phase}: step {step} of at most {steps}, acceptance {acceptance:.2f}, {seconds:.0f} s")

    def draw(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def end(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class StageLine:
    """A context that shows the progress of stages by a line, or by a function of the caller.

    Raises TypeError if `progress` has another type.
    """

    def __init__(self, progress: bool | StageProgress | None) -> None:
        _arguments.progress(progress)
        shown = progress is True or (progress is None and is_interactive())
        self._line = Line() if shown else None
        self._call = progress if callable(progress) else None

    def __enter__(self) -> StageProgress | None:
        if line := self._line:
            return lambda stage, done, all_: line.draw(f"{stage}: {done} of {all_}")
        return self._call

    def __exit__(self, *_: object) -> None:
        if self._line:
            self._line.end()

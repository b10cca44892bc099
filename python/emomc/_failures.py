"""Detects exceptions of compiled functions, which C code cannot raise, and reports them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._emomc import DensityError
from ._progress import Progress


class Failures:
    """Memory in which a compiled function of rows counts its exceptions and keeps the point and the row of one.

    Threads that do not hold the GIL write to the memory: the count by atomic additions, the point by the thread that
    has taken it.
    """

    def __init__(self, num_parameters: int, num_columns: int) -> None:
        self.num_parameters = num_parameters
        self._counts = np.zeros(2, dtype=np.int64)  # the number of exceptions, and whether _point is taken
        self._point = np.zeros(num_parameters + num_columns)  # theta and the columns of a row

    @property
    def count(self) -> int:
        """The number of exceptions so far."""
        return int(self._counts[0])

    def take(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Returns theta and the columns of a row at which the function raised an exception; None: they are not known.

        The memory can then receive another point.
        """
        if not self._counts[1]:
            return None
        point = self._point.copy()
        self._counts[1] = 0
        return point[: self.num_parameters], point[self.num_parameters :]

    def recorder(self, numba: Any) -> Any:
        """Returns a function for compiled code that records an exception: f(theta, rows, stride, row)."""
        count, take, pointer = _memory_access(numba)
        counts, point = self._counts.ctypes.data, self._point.ctypes.data
        num_parameters, num_columns = self.num_parameters, len(self._point) - self.num_parameters
        size, carray = len(self._point), numba.carray

        def record(theta, rows, stride, row):  # type: ignore[no-untyped-def]  # Numba infers the types
            if count(counts) >= 0 and take(counts + 8):
                kept = carray(pointer(point), (size,))
                for k in range(num_parameters):
                    kept[k] = theta[k]
                for j in range(num_columns):
                    kept[num_parameters + j] = rows[j * stride + row]

        return numba.njit(record)


@functools.cache
def _memory_access(numba: Any) -> tuple[Any, Any, Any]:
    """Returns functions of addresses for compiled code.

    They add 1 to the integer there, set the integer to 1 and return whether it was 0, and return a pointer to numbers.
    """
    from llvmlite import ir
    from numba.extending import intrinsic

    integer, number = numba.types.int64, numba.types.float64
    word = ir.IntType(64)

    @intrinsic  # type: ignore[misc, unused-ignore]
    def count(typing, address):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            place = builder.inttoptr(values[0], word.as_pointer())
            return builder.atomic_rmw("add", place, ir.Constant(word, 1), "seq_cst")

        return integer(integer), generate

    @intrinsic  # type: ignore[misc, unused-ignore]
    def take(typing, address):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            place = builder.inttoptr(values[0], word.as_pointer())
            zero, one = ir.Constant(word, 0), ir.Constant(word, 1)
            return builder.extract_value(builder.cmpxchg(place, zero, one, "seq_cst"), 1)

        return numba.types.boolean(integer), generate

    @intrinsic  # type: ignore[misc, unused-ignore]
    def pointer(typing, address):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            return builder.inttoptr(values[0], ir.DoubleType().as_pointer())

        return numba.types.CPointer(number)(integer), generate

    return count, take, pointer


class Watch:
    """A context that raises DensityError if a function raised an exception while the library called it.

    Each element of `functions` has the failures of a function, and a function that makes the error.
    """

    def __init__(self, functions: Sequence[tuple[Failures, Callable[[], DensityError]]]) -> None:
        self._functions = functions
        self._before: list[int] = []
        self._raised: DensityError | None = None

    def __enter__(self) -> Watch:
        self._before = [failures.count for failures, _ in self._functions]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None or (error is not self._raised and isinstance(error, Exception)):
            self.check()

    def check(self) -> None:
        """Raises DensityError if a function has raised an exception since the context was entered."""
        for (failures, error_of), before in zip(self._functions, self._before, strict=True):
            if failures.count > before:
                self._raised = error_of()
                raise self._raised from self._raised.__cause__

    def progress(self, show: Progress | None) -> Progress | None:
        """Returns a function that ends a run after an exception of a function, and calls `show` otherwise."""
        if not self._functions:
            return show

        def tell(step: int, steps: int, warmup: int, acceptance: float, seconds: float) -> None:
            self.check()
            if show is not None:
                show(step, steps, warmup, acceptance, seconds)

        return tell

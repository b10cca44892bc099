"""Log densities that are Python functions, compiled by Numba."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._emomc import InputError


@dataclass(frozen=True)
class RowFunction:
    """A function that the library calls for many rows."""

    address: int
    by: str  #: who has compiled it
    text: str  #: another one where the function is another
    columns: list[str]  #: of the data, which it takes
    for_gpu: Callable[[int, int], bytes]  #: LTO IR of one row's density, for a compute capability
    arguments: list[str]  #: of that
    kept: Any  #: what has to live as long as the address


def compile_rows(
    function: Callable[..., float], columns: Sequence[str], parameters: Mapping[str, int]
) -> RowFunction:
    """Compiles a function of columns and parameters, which its arguments name, to one of many rows.

    `parameters` are lengths by name, 0 of a number. A column is a float, a parameter a float or an array of float64.
    Raises ImportError without Numba; InputError where an argument is neither, or Numba cannot compile the function.
    """
    try:
        import numba
    except ImportError as error:
        raise ImportError(
            "log_density is a Python function, which Numba has to compile, and there is no Numba here: pip install "
            "numba, or write the density as an expression"
        ) from error
    plain = getattr(function, "py_func", function)
    places: dict[str, str] = {}
    at = 0
    for name, length in parameters.items():
        places[name] = f"theta[{at}:{at + length}]" if length else f"theta[{at}]"
        at += max(length, 1)
    used: list[str] = []
    arguments: list[str] = []
    for name, argument in inspect.signature(plain).parameters.items():
        if argument.kind not in (argument.POSITIONAL_ONLY, argument.POSITIONAL_OR_KEYWORD):
            raise InputError(f"log_density: the argument {name} has no place of its own; allowed: columns and parameters")
        if name in places:
            arguments.append(places[name])
        elif name in columns:
            arguments.append(f"rows[{len(used)} * stride + i]")
            used.append(name)
        else:
            allowed = ", ".join([*columns, *places])
            raise InputError(f"log_density: the argument {name} is no column and no parameter; allowed: {allowed}")
    if not used:
        raise InputError("log_density: no argument is a column; it is the log density of one row of the data")
    if not set(places) & set(inspect.signature(plain).parameters):
        raise InputError("log_density: no argument is a parameter, so that there is nothing to sample")
    assert all(not keyword.iskeyword(name) for name in used)
    jitted = function if plain is not function else numba.njit(error_model="numpy")(function)
    source = (
        "def rows_of(theta_, rows_, stride, count, out_):\n"
        f"    theta = carray(theta_, ({max(at, 1)},))\n"
        f"    rows = carray(rows_, ({len(used)} * stride,))\n"
        "    out = carray(out_, (count,))\n"
        "    for i in range(count):\n"
        f"        out[i] = density({', '.join(arguments)})\n"
    )
    scope: dict[str, Any] = {"carray": numba.carray, "density": jitted}
    exec(source, scope)  # noqa: S102  names of arguments are not in it, only places
    pointer, integer = numba.types.CPointer(numba.types.float64), numba.types.int64
    signature = numba.types.void(pointer, pointer, integer, integer, pointer)
    try:
        compiled = numba.cfunc(signature, error_model="numpy")(scope["rows_of"])
    except numba.core.errors.NumbaError as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        raise InputError(f"log_density: Numba cannot compile it: {first}") from error
    try:
        text = inspect.getsource(plain)
    except (OSError, TypeError):
        text = repr(plain.__code__.co_code) + repr(plain.__code__.co_consts)
    names = list(inspect.signature(plain).parameters)
    lengths = [parameters.get(name, 0) for name in names]
    by = f"Numba {numba.__version__}"
    return RowFunction(int(compiled.address), by, text, used, _for_gpu(plain, lengths), names, (compiled, jitted))


def _for_gpu(plain: Callable[..., float], lengths: Sequence[int]) -> Callable[[int, int], bytes]:
    """What compiles a function whose arguments are numbers (length 0) and lists, when a GPU is to call it.

    A list is an array of float64, as the CPU's function has it.
    """
    compiled: dict[tuple[int, int], bytes] = {}

    def compile_for(major: int, minor: int) -> bytes:
        if (major, minor) in compiled:
            return compiled[major, minor]
        try:
            from numba import cuda, types
        except ImportError as error:
            raise InputError(
                "log_density: it is a Python function, which Numba's CUDA target has to compile for a GPU, and it is "
                "not there: pip install numba-cuda, or use backend cpu"
            ) from error
        array = types.Array(types.float64, 1, "C", readonly=True)
        signature = types.float64(*(array if length else types.float64 for length in lengths))
        try:
            code, _ = cuda.compile(
                plain,
                signature,
                device=True,
                abi="c",
                abi_info={"abi_name": "emomc_row_density"},
                output="ltoir",
                cc=(major, minor),
            )
        except Exception as error:  # of Numba, of its typing, and where libnvvm is missing
            first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise InputError(f"log_density: Numba cannot compile it for a GPU: {first}") from error
        compiled[major, minor] = bytes(code)
        return compiled[major, minor]

    return compile_for

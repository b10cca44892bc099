"""Log densities that are Python functions, compiled by Numba."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ._emomc import InputError

#: A function that compiles for GPUs of a compute capability, such as 9 and 0 (major, minor), and returns LTO IR.
ForGpu = Callable[[int, int], bytes]


@dataclass(frozen=True)
class _Compiled:
    """A function of one row, compiled to a C function that is called for many rows."""

    address: int
    text: str  #: source of the function, by which a resumed run compares functions
    for_gpu: ForGpu
    arguments: list[str]
    kept: Any  #: the objects that own the code at the address


@dataclass(frozen=True)
class RowFunction:
    """A compiled log density that the library calls for many rows, and its gradient."""

    density: _Compiled
    by: str  #: name and version of the compiler
    text: str  #: sources of the density and of the gradient, by which a resumed run compares functions
    columns: list[str]  #: columns of the data that the functions take, in the order of the rows' memory
    gradient_by: Literal["none", "differences", "function"]
    gradient: _Compiled | None


def compile_rows(
    function: Callable[..., float],
    columns: Sequence[str],
    parameters: Mapping[str, int],
    gradient: Callable[..., None] | Literal["differences"] | None = None,
) -> RowFunction:
    """Compiles a function of one row to a function of many rows. Its arguments are named as columns and parameters.

    `parameters` gives the length of each parameter by name, 0 for a number. The function receives a column as a float,
    and a parameter as a float or as an array of float64. `gradient` has such arguments too, and the argument `out`, an
    array of zeros with one element for each element of theta.

    Raises ImportError if Numba is missing; TypeError if `gradient` has another type; InputError if an argument is
    neither a column nor a parameter, or Numba cannot compile a function.
    """
    try:
        import numba
    except ImportError as error:
        raise ImportError(
            "log_density is a Python function, which Numba has to compile, and Numba is not installed: pip install numba, or write the density as an expression"
        ) from error
    if gradient is not None and gradient != "differences" and not callable(gradient):
        raise TypeError('gradient: allowed: a function, or "differences"')
    used: list[str] = []
    compiler = _Compiler(numba, columns, parameters, used)
    density = compiler.compile("log_density", function)
    if not used:
        raise InputError("log_density: no argument is a column; it is the log density of one row of the data")
    if not set(parameters) & set(density.arguments):
        raise InputError("log_density: no argument is a parameter, so that there is nothing to sample")
    by = f"Numba {numba.__version__}"
    if gradient is None:
        return RowFunction(density, by, density.text, used, "none", None)
    if not callable(gradient):
        return RowFunction(density, by, density.text + "\ngradient: differences", used, "differences", None)
    num_columns = len(used)
    compiled = compiler.compile("gradient", gradient)
    if len(used) > num_columns:
        raise InputError(f"gradient: the argument {used[-1]} is a column that log_density does not take")
    if "out" not in compiled.arguments:
        raise InputError("gradient: it has no argument out, the array to which it writes the derivatives")
    return RowFunction(density, by, density.text + "\ngradient:\n" + compiled.text, used, "function", compiled)


class _Compiler:
    """Compiles functions of the same columns and parameters, and appends the columns that they read to `used`."""

    def __init__(self, numba: Any, columns: Sequence[str], parameters: Mapping[str, int], used: list[str]) -> None:
        self.numba, self.columns, self.parameters, self.used = numba, columns, parameters, used
        self.places: dict[str, str] = {}
        at = 0
        for name, length in parameters.items():
            self.places[name] = f"theta[{at}:{at + length}]" if length else f"theta[{at}]"
            at += max(length, 1)
        self.num_parameters = at

    def compile(self, key: str, function: Callable[..., Any]) -> _Compiled:
        numba = self.numba
        plain = getattr(function, "py_func", function)
        places = self._arguments(key, plain)
        jitted = function if plain is not function else numba.njit(error_model="numpy")(function)
        call = f"of_row({', '.join(places)})"
        width = max(self.num_parameters, 1)
        source = (
            "def rows_of(theta_, rows_, stride, count, out_):\n"
            f"    theta = carray(theta_, ({width},))\n"
            f"    rows = carray(rows_, ({len(self.used)} * stride,))\n"
        )
        if key == "log_density":
            source += f"    out = carray(out_, (count,))\n    for i in range(count):\n        out[i] = {call}\n"
        else:
            source += f"    out = carray(out_, (count, {width}))\n    for i in range(count):\n        {call}\n"
        scope: dict[str, Any] = {"carray": numba.carray, "of_row": jitted}
        exec(source, scope)  # noqa: S102  the text has places of arguments, but not the user's names
        pointer, integer = numba.types.CPointer(numba.types.float64), numba.types.int64
        signature = numba.types.void(pointer, pointer, integer, integer, pointer)
        try:
            compiled = numba.cfunc(signature, error_model="numpy")(scope["rows_of"])
        except numba.core.errors.NumbaError as error:
            first = next((line for line in str(error).splitlines() if line.strip()), "")
            raise InputError(f"{key}: Numba cannot compile it: {first}") from error
        try:
            text = inspect.getsource(plain)
        except (OSError, TypeError):
            text = repr(plain.__code__.co_code) + repr(plain.__code__.co_consts)
        names = list(inspect.signature(plain).parameters)
        is_list = [name == "out" if name not in self.parameters else self.parameters[name] > 0 for name in names]
        self._check_indices(key, plain, names)
        symbol = "emomc_row_density" if key == "log_density" else "emomc_row_gradient"
        return _Compiled(
            int(compiled.address), text, _for_gpu(key, plain, names, is_list, symbol), names, (compiled, jitted)
        )

    def _check_indices(self, key: str, plain: Callable[..., Any], names: Sequence[str]) -> None:
        """Calls the function once in Python, because compiled code does not check the indices of arrays."""
        values: list[Any] = []
        for name in names:
            length = self.num_parameters if name == "out" else self.parameters.get(name, 0)
            values.append(np.full(length, 0.0 if name == "out" else 0.5) if length or name == "out" else 0.5)
        try:
            with np.errstate(all="ignore"):
                plain(*values)
        except IndexError as error:
            raise InputError(f"{key}: it uses an element that an array does not have: {error}") from error
        except Exception:  # noqa: S110  other exceptions depend on the values, which are arbitrary here
            pass

    def _arguments(self, key: str, plain: Callable[..., Any]) -> list[str]:
        """Returns the arguments of a call of the function of one row, as expressions in the source of rows_of()."""
        arguments: list[str] = []
        for name, argument in inspect.signature(plain).parameters.items():
            if argument.kind not in (argument.POSITIONAL_ONLY, argument.POSITIONAL_OR_KEYWORD):
                raise InputError(f"{key}: the argument {name} is not positional; allowed: positional arguments, named after columns and parameters")
            if key == "gradient" and name == "out":
                if name in self.places or name in self.columns:
                    raise InputError("gradient: out is the array of derivatives; give the column or parameter another name")
                arguments.append("out[i]")
            elif name in self.places:
                arguments.append(self.places[name])
            elif name in self.columns:
                if name not in self.used:
                    self.used.append(name)
                arguments.append(f"rows[{self.used.index(name)} * stride + i]")
            else:
                allowed = ", ".join([*self.columns, *self.places, *(["out"] if key == "gradient" else [])])
                raise InputError(f"{key}: the argument {name} is no column and no parameter; allowed: {allowed}")
        assert all(not keyword.iskeyword(name) for name in self.used)
        return arguments


def _for_gpu(
    key: str, plain: Callable[..., Any], names: Sequence[str], is_list: Sequence[bool], symbol: str
) -> ForGpu:
    """Returns a function that compiles `plain` for a GPU; an engine on a GPU calls it when necessary.

    Lists are arrays of float64, as on the CPU. Only `out` is writable.
    """
    compiled: dict[tuple[int, int], bytes] = {}

    def compile_for(major: int, minor: int) -> bytes:
        if (major, minor) in compiled:
            return compiled[major, minor]
        try:
            from numba import cuda, types
        except ImportError as error:
            raise InputError(
                f"{key}: it is a Python function, which Numba's CUDA target has to compile for a GPU, and this target is not installed: pip install numba-cuda, or use backend cpu"
            ) from error
        result = types.float64 if key == "log_density" else types.void
        signature = result(
            *(
                types.Array(types.float64, 1, "C", readonly=name != "out") if of_list else types.float64
                for name, of_list in zip(names, is_list, strict=True)
            )
        )
        try:
            code, _ = cuda.compile(
                plain, signature, device=True, abi="c", abi_info={"abi_name": symbol}, output="ltoir", cc=(major, minor)
            )
        except Exception as error:  # raised by Numba's compiler or type inference, or if libnvvm is missing
            first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise InputError(f"{key}: Numba cannot compile it for a GPU: {first}") from error
        compiled[major, minor] = bytes(code)
        return compiled[major, minor]

    return compile_for

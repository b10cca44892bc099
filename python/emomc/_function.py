"""Log densities that are Python functions, compiled by Numba."""

from __future__ import annotations

import ctypes
import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._emomc import DensityError, InputError, Posterior
from ._failures import Failures, Watch
from ._numba import can_raise, checked, reason_of

#: A function that compiles for GPUs of a compute capability, such as 9 and 0 (major, minor), and returns LTO IR.
ForGpu = Callable[[int, int], bytes]


@dataclass(frozen=True)
class _Compiled:
    """A function of one row, compiled to a C function that is called for many rows."""

    key: str  #: "log_density" or "gradient"
    address: int
    text: str  #: source of the function, by which a resumed run compares functions
    for_gpu: ForGpu
    arguments: list[str]
    plain: Callable[..., Any]  #: the function in Python
    call: Any  #: the C function, for ctypes
    failures: Failures
    kept: Any  #: the objects that own the code at the address


@dataclass(frozen=True)
class RowFunction:
    """A compiled log density that the library calls for many rows, and its gradient."""

    density: _Compiled
    by: str  #: name and version of the compiler
    text: str  #: sources of the density and of the gradient, by which a resumed run compares functions
    columns: list[str]  #: columns of the data that the functions take, in the order of the rows' memory
    parameters: dict[str, int]  #: length of each parameter by name, 0 for a number
    gradient_by: Literal["none", "differences", "function"] = "none"
    gradient: _Compiled | None = None

    def watch(self, posterior: Posterior) -> Watch:
        """Returns a context that reports exceptions which the functions raise while `posterior` calls them."""
        functions = [self.density] if self.gradient is None else [self.density, self.gradient]
        return Watch([(one.failures, lambda one=one: self._error(one, posterior)) for one in functions])  # type: ignore[misc]

    def check_indices(self, posterior: Posterior, names: Sequence[str], arrays: Sequence[Any]) -> None:
        """Calls the functions for all rows, and refuses indices that arrays do not have.

        `names` and `arrays` are those of `columns_of`, from which the posterior was made. The parameters are 0.5, so that
        other exceptions, which may be due to these values, do not count. Data on a GPU are not copied to the host, and
        the functions are called once, with columns of 0.5.

        Raises InputError with the row.
        """
        on_gpu = posterior.gpu is not None
        columns = [np.full(1, 0.5)] * len(self.columns) if on_gpu else [_column(name, names, arrays) for name in self.columns]
        for one in [self.density] if self.gradient is None else [self.density, self.gradient]:
            theta = np.full(one.failures.num_parameters, 0.5)
            for row in _failing_rows(one, theta, columns):
                values = np.array([column[row] for column in columns], dtype=np.float64)
                error = _exception_of(one.plain, self._arguments(one, theta, values))
                if isinstance(error, IndexError):
                    at = "" if on_gpu else f" at row {row} ({self._columns_text(one, values)})"
                    raise InputError(f"{one.key}: it uses an element that an array does not have{at}: {error}") from error

    def _rows_of(self, posterior: Posterior) -> NDArray[np.float64]:
        """Returns the columns that the functions take [rows x columns]."""
        return posterior.data[:, [posterior.columns.index(name) for name in self.columns]]

    def _arguments(self, one: _Compiled, theta: NDArray[np.float64], row: NDArray[np.float64]) -> dict[str, Any]:
        """Returns the arguments of a call of the function in Python."""
        values: dict[str, Any] = {"out": np.zeros(len(theta))} if one.key == "gradient" else {}
        values |= {name: float(value) for name, value in zip(self.columns, row, strict=True)}
        at = 0
        for name, length in self.parameters.items():
            values[name] = theta[at : at + length].copy() if length else float(theta[at])
            at += max(length, 1)
        return {name: values[name] for name in one.arguments}

    def _columns_text(self, one: _Compiled, row: NDArray[np.float64]) -> str:
        given = dict(zip(self.columns, row, strict=True))
        return ", ".join(f"{name} = {given[name]:.6g}" for name in self.columns if name in one.arguments)

    def _error(self, one: _Compiled, posterior: Posterior) -> DensityError:
        """Returns the error about an exception of the function. Its cause is the exception in Python, if it is known."""
        name, point = getattr(one.plain, "__name__", "the function"), one.failures.take()
        if point is None:
            return DensityError(f"{one.key}: {name}() raised an exception")
        theta, row = point
        arguments = self._arguments(one, theta, row)
        cause = _exception_of(one.plain, arguments)
        what = "an exception" if cause is None else f"{type(cause).__name__}: {cause}".rstrip(": ")
        found = []
        if posterior.gpu is None:
            found = np.flatnonzero((self._rows_of(posterior) == row).all(axis=1)).tolist()
        where = f"at row {found[0]}" if found else "at a row"
        parameters = ", ".join(f"{p} = {_number_text(arguments[p])}" for p in self.parameters if p in arguments)
        error = DensityError(f"{one.key}: {name}() raised {what}, {where} ({self._columns_text(one, row)}), with {parameters}")
        error.__cause__ = cause
        return error


#: Maximum number of rows with exceptions for which the function is called in Python, and number of rows of a call in C.
_MOST_CHECKED, _ROWS_OF_CALL = 1000, 4096


def _column(name: str, names: Sequence[str], arrays: Sequence[Any]) -> NDArray[Any]:
    """Returns a column of data on the host; `names` and `arrays` are those of `columns_of`."""
    at = names.index(name)
    column: NDArray[Any] = arrays[0][:, at] if arrays[0].ndim == 2 else arrays[at]
    return column


def _failing_rows(one: _Compiled, theta: NDArray[np.float64], columns: Sequence[NDArray[Any]]) -> list[int]:
    """Returns rows at which the function raises an exception, or is NaN beside such; at most _MOST_CHECKED."""
    failing: list[int] = []
    width = max(len(theta), 1) if one.key == "gradient" else 1
    for first in range(0, len(columns[0]), _ROWS_OF_CALL):
        rows = np.array([column[first : first + _ROWS_OF_CALL] for column in columns], dtype=np.float64)
        out = np.zeros((rows.shape[1], width))
        before = one.failures.count
        one.call(_pointer(theta), _pointer(rows), rows.shape[1], rows.shape[1], _pointer(out))
        if one.failures.count > before:
            failing += [first + int(row) for row in np.flatnonzero(np.isnan(out).any(axis=1))]
        if len(failing) >= _MOST_CHECKED:
            break
    one.failures.take()
    return failing[:_MOST_CHECKED]


def _pointer(array: NDArray[np.float64]) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def _exception_of(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Exception | None:
    """Returns the exception that the function raises in Python; None: there is no exception."""
    try:
        with np.errstate(all="ignore"):
            function(*arguments.values())
    except Exception as error:
        return error
    return None


def _number_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "[" + ", ".join(f"{x:.6g}" for x in value[:8]) + (", ...]" if len(value) > 8 else "]")


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

    An exception of a function makes the row's value NaN and is recorded (`RowFunction.watch`). Indices of arrays are
    checked.

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
    result = RowFunction(density, f"Numba {numba.__version__}", density.text, used, dict(parameters))
    if gradient is None:
        return result
    if not callable(gradient):
        return replace(result, text=density.text + "\ngradient: differences", gradient_by="differences")
    num_columns = len(used)
    compiled = compiler.compile("gradient", gradient)
    if len(used) > num_columns:
        raise InputError(f"gradient: the argument {used[-1]} is a column that log_density does not take")
    if "out" not in compiled.arguments:
        raise InputError("gradient: it has no argument out, the array to which it writes the derivatives")
    text = density.text + "\ngradient:\n" + compiled.text
    return replace(result, text=text, gradient_by="function", gradient=compiled)


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
        if not inspect.isfunction(plain):
            raise TypeError(f"{key}: a value of type {type(plain).__name__}; allowed: a function that def or lambda makes")
        places = self._arguments(key, plain)
        names = list(inspect.signature(plain).parameters)
        is_list = [self.parameters.get(name, 0) > 0 or (key == "gradient" and name == "out") for name in names]
        failures = Failures(self.num_parameters, len(self.used))
        call = f"of_row({', '.join(places)})"
        width = max(self.num_parameters, 1)
        is_density = key == "log_density"
        source = (
            "def rows_of(theta_, rows_, stride, count, out_):\n"
            f"    theta = carray(theta_, ({width},))\n"
            f"    rows = carray(rows_, ({len(self.used)} * stride,))\n"
            f"    out = carray(out_, {'(count,)' if is_density else f'(count, {width})'})\n"
            "    for i in range(count):\n"
            "        try:\n"
            f"            {'out[i] = ' if is_density else ''}{call}\n"
            "        except Exception:\n"
            f"            out[i{'' if is_density else ', :'}] = nan\n"
            "            record(theta, rows, stride, i)\n"
        )
        pointer, integer = numba.types.CPointer(numba.types.float64), numba.types.int64
        signature = numba.types.void(pointer, pointer, integer, integer, pointer)
        try:
            jitted = self._compiled_row(key, function, is_list)
            scope: dict[str, Any] = {"carray": numba.carray, "of_row": jitted, "nan": np.nan}
            scope["record"] = failures.recorder(numba)
            exec(source, scope)  # noqa: S102  the text has places of arguments, but not the user's names
            compiled = numba.cfunc(signature, error_model="numpy")(scope["rows_of"])
        except InputError:
            raise
        except Exception as error:  # of Numba's compiler, or of Python while Numba evaluates globals
            raise InputError(f"{key}: Numba cannot compile it: {reason_of(error)}") from error
        try:
            text = inspect.getsource(plain)
        except (OSError, TypeError):
            text = repr(plain.__code__.co_code) + repr(plain.__code__.co_consts)
        symbol = "emomc_row_density" if is_density else "emomc_row_gradient"
        return _Compiled(
            key=key,
            address=int(compiled.address),
            text=text,
            for_gpu=_for_gpu(key, plain, names, is_list, symbol),
            arguments=names,
            plain=jitted.py_func,  # which calls compiled functions that check indices
            call=compiled.ctypes,
            failures=failures,
            kept=(compiled, jitted),
        )

    def _compiled_row(self, key: str, function: Callable[..., Any], is_list: Sequence[bool]) -> Any:
        """Compiles the function of one row by itself, so that messages of Numba name its lines.

        Raises InputError if a log density returns no number.
        """
        types = self.numba.types
        jitted = checked(self.numba, function)
        jitted.compile(tuple(types.Array(types.float64, 1, "C") if of_list else types.float64 for of_list in is_list))
        returned = jitted.overloads[jitted.signatures[-1]].signature.return_type
        if key == "log_density" and not isinstance(returned, types.Number | types.Boolean):
            raise InputError(f"{key}: it returns {returned}; allowed: a number, the log density of the row")
        return jitted

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
        if can_raise(plain):
            raise InputError(f"{key}: it has a raise or an assert statement, whose exceptions a GPU cannot report; use backend cpu")
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
            raise InputError(f"{key}: Numba cannot compile it for a GPU: {reason_of(error)}") from error
        compiled[major, minor] = bytes(code)
        return compiled[major, minor]

    return compile_for

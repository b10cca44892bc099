"""Tests exceptions and indices of log densities that are Python functions."""

import math

import emomc
import numpy as np
import pytest
from test_function import cuda_target

numba = pytest.importorskip("numba")

X = np.linspace(-1, 1, 700)
PARAMETERS = {"m": emomc.real(), "s": emomc.positive(2)}
PRIORS = {"m": emomc.normal(0, 3), "s": emomc.half_normal(2)}


def model(function, data=None, **more):
    data = {"x": X} if data is None else data
    return emomc.Model(data=data, parameters=PARAMETERS, log_density=function, priors=PRIORS, **more)


def normal(x, m, s):
    return -0.5 * ((x - m) / s[0]) ** 2 - math.log(s[0]) - s[1]


def refuses_large_means(x, m, s):
    if m > 0.5 and x > 0.9:
        raise ValueError("too large")
    return normal_compiled(x, m, s)


normal_compiled = numba.njit(normal)
# From a text, because pytest rewrites assert statements of tests.
SCOPE = {"normal": normal_compiled}
exec("def asserts(x, m, s):\n    assert m < 0.5\n    return normal(x, m, s)\n", SCOPE)
asserts = SCOPE["asserts"]
AT = [1.0, 2.0, 3.0]


@pytest.mark.parametrize("wrap", [lambda f: f, numba.njit])
def test_an_exception_names_the_function_the_row_and_the_parameters(wrap):
    ours = model(wrap(refuses_large_means))
    first = int(np.flatnonzero(X > 0.9)[0])
    assert ours.log_posterior([0.2, 2.0, 3.0]) == pytest.approx(model(normal).log_posterior([0.2, 2.0, 3.0]), rel=1e-14)
    with pytest.raises(emomc.DensityError) as caught:
        ours.log_posterior(AT)
    said = str(caught.value)
    assert said.startswith("log_density: refuses_large_means() raised ValueError: too large, at row ")
    assert said.endswith("with m = 1, s = [2, 3]") and "\n" not in said
    row = int(said.split("at row ")[1].split()[0])
    assert row >= first and f"(x = {X[row]:.6g})" in said
    assert isinstance(caught.value.__cause__, ValueError)
    # Each evaluation is judged by itself.
    assert np.isfinite(ours.log_posterior([0.2, 2.0, 3.0]))
    with pytest.raises(emomc.DensityError, match="too large"):
        ours.log_density(ours.unconstrain(AT))


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize("function", [refuses_large_means, asserts])
def test_a_run_ends_with_the_exception(function, backend):
    with pytest.raises(emomc.DensityError, match=rf"log_density: {function.__name__}\(\) raised \w+Error"):
        emomc.sample(model(function), backend=backend, threads=2, progress=False)


def test_the_exception_of_one_model_is_not_that_of_another():
    with pytest.raises(emomc.DensityError):
        emomc.sample(model(refuses_large_means), progress=False)
    assert np.isfinite(emomc.sample(model(normal), draws=50, warmup=50, progress=False)["log_density"]).all()


def test_an_exception_of_a_gradient_names_the_gradient():
    def slopes(x, m, s, out):
        if x > 0.9:
            raise ValueError("no slope")
        out[0] = (x - m) / s[0] ** 2

    ours = model(normal, gradient=slopes)
    assert np.isfinite(ours.log_posterior(AT))
    with pytest.raises(emomc.DensityError, match=r"gradient: slopes\(\) raised ValueError: no slope, at row \d+ \(x = 0\.9"):
        ours.log_density_and_gradient(ours.unconstrain(AT))


def test_log_likelihoods_and_comparisons_report_exceptions():
    draws = emomc.sample(model(normal), draws=50, warmup=50, chains=2, progress=False)
    assert draws.log_likelihoods(5).shape == (5, len(X))
    pole = float(X[3])
    draws._model = model(numba.njit(lambda x, m, s: normal_compiled(x, m, s) + 1 / (x - pole)))
    for call in (draws.log_likelihoods, lambda: emomc.compare({"one": draws}), lambda: emomc.stack(draws)):
        with pytest.raises(emomc.DensityError, match=r"<lambda>\(\) raised ZeroDivisionError: .*at row 3 "):
            call()


def of_group(x, group, m, s):
    return normal_compiled(x, m, s) / s[int(group)]


helper = numba.njit(lambda values, i: values[int(i)])


def of_group_by_a_helper(x, group, m, s):
    return normal_compiled(x, m, s) / helper(s, group)


def of_group_by_a_variable():
    own = helper

    def density(x, group, m, s):
        return normal_compiled(x, m, s) / own(s, group)

    return density


@pytest.mark.parametrize("function", [of_group, of_group_by_a_helper, of_group_by_a_variable(), numba.njit(of_group)])
@pytest.mark.parametrize("group", [2, 10**6, -3])
def test_indices_of_the_data_are_checked_for_all_rows(function, group):
    groups = np.arange(len(X)) % 2
    assert np.isfinite(model(function, {"x": X, "group": groups}).log_posterior(AT))
    groups[650] = group
    message = f"log_density: it uses an element that an array does not have at row 650 .*group = {group:.6g}.*out of bounds"
    with pytest.raises(emomc.InputError, match=message.replace("+", r"\+")):
        model(function, {"x": X, "group": groups})


def test_indices_of_parameters_are_checked_during_a_run():
    def by_the_mean(x, m, s):
        return -0.5 * (x - m) ** 2 - s[int(abs(m))]

    with pytest.raises(emomc.DensityError, match=r"by_the_mean\(\) raised IndexError: .* out of bounds .*, with m = "):
        emomc.sample(model(by_the_mean), backend="cpu", progress=False)  # a GPU does not check indices


def test_other_exceptions_at_arbitrary_parameters_do_not_refuse_a_model():
    def needs_order(x, m, s):
        if s[0] >= s[1]:
            raise ValueError("not in order")
        return normal_compiled(x, m, s)

    assert np.isfinite(model(needs_order).log_posterior(AT))


def adds_a_text(x, m, s):
    y = x + m
    return y + "text"


def returns_nothing(x, m, s):
    x + m + s[0]


@pytest.mark.parametrize(
    "function, message",
    [
        (adds_a_text, r"add\(float64, Literal\[str\]\(text\)\) \(test_function_errors.py, line \d+: return y \+ \"text\"\)"),
        (lambda x, m: x + unknown + m, "NameError: .*unknown"),  # noqa: F821
        (lambda x, m: math.unknown(x) + m, "AttributeError: module 'math' has no attribute 'unknown'"),
        (returns_nothing, "log_density: it returns none; allowed: a number"),
        (lambda x, m, s: s, "log_density: it returns array"),
    ],
)
def test_messages_of_numba_say_what_and_where(function, message):
    with pytest.raises(emomc.InputError, match=message) as caught:
        model(function)
    assert "\n" not in str(caught.value)


def test_a_callable_object_is_no_function():
    class Density:
        def __call__(self, x, m):
            return x - m

    with pytest.raises(TypeError, match="log_density: a value of type Density; allowed: a function"):
        model(Density())


def test_a_gpu_refuses_functions_with_exceptions():
    cuda_target()
    for function in (refuses_large_means, asserts):
        with pytest.raises(emomc.InputError, match="a raise or an assert statement, whose exceptions a GPU cannot report"):
            model(function)._posterior.function_kernels(9, 0)

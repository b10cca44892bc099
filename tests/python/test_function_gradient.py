"""Gradients of log densities that are Python functions."""

import math

import emomc
import numpy as np
import pytest
from gpu_array import has_gpu
from test_function import as_expression, as_function, cuda_target


def slopes(a, b, s, out, duration, waiting):
    z = (waiting - a - b * duration) / s
    out[0] = z / s
    out[1] = z * duration / s
    out[2] = (z * z - 1) / s


def model_of(data, gradient, **more):
    return as_function(data, gradient=gradient, **more)


@pytest.mark.parametrize("gradient, error", [(slopes, 1e-12), ("differences", 1e-7)])
@pytest.mark.parametrize("weights", ["", "w"])
def test_a_gradient_is_that_of_the_expression(faithful, gradient, error, weights):
    pytest.importorskip("numba")
    data = faithful | {"w": np.arange(272) % 3}
    ours, expression = model_of(data, gradient, weights=weights), as_expression(data, weights=weights)
    for seed in range(5):
        u = expression.initial(seed)
        value, derivatives = ours.log_density_and_gradient(u)
        expected, right = expression.log_density_and_gradient(u)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(derivatives, right, rtol=error, atol=error * np.abs(right).max())
    check = ours.check_gradient()
    assert check.agrees and check.num_compared == 3


def mixture(x, w, m, p, k):
    total = 0.0
    for i in range(len(m)):
        total += w[i] * math.exp(-0.5 * (x - m[i]) ** 2)
    return math.log(total) + math.log(p) + math.cos(k) * x


def mixture_slopes(x, w, m, p, k, out):
    total = 0.0
    for i in range(len(m)):
        total += w[i] * math.exp(-0.5 * (x - m[i]) ** 2)
    for i in range(len(m)):
        share = math.exp(-0.5 * (x - m[i]) ** 2) / total
        out[i] = share
        out[3 + i] = w[i] * share * (x - m[i])
    out[6] = 1 / p
    out[7] = -math.sin(k) * x


@pytest.mark.parametrize("gradient, error", [(mixture_slopes, 1e-11), ("differences", 1e-6)])
def test_every_support_has_derivatives(gradient, error):
    pytest.importorskip("numba")
    # More rows than a tile of the CPU holds, and a number that no block of rows divides.
    x = np.random.default_rng(1).normal(size=2503)
    parameters = {"w": emomc.simplex(3), "m": emomc.real(3), "p": emomc.unit(), "k": emomc.angle()}
    priors = {"w": emomc.dirichlet(2), "m": emomc.normal(0, 3), "p": emomc.beta(2, 2), "k": emomc.von_mises(0, 1)}
    options = dict(data={"x": x}, parameters=parameters, priors=priors)
    ours = emomc.Model(log_density=mixture, gradient=gradient, **options)
    expression = emomc.Model(
        log_density="log_sum_exp([log(w[0]) - 0.5 * (x - m[0])^2, log(w[1]) - 0.5 * (x - m[1])^2, "
        "log(w[2]) - 0.5 * (x - m[2])^2]) + log(p) + cos(k) * x",
        **options,
    )
    assert ours.names == expression.names
    for seed in range(3):
        u = expression.initial(seed)
        derivatives, right = ours.log_density_and_gradient(u)[1], expression.log_density_and_gradient(u)[1]
        np.testing.assert_allclose(derivatives, right, rtol=error, atol=error * np.abs(right).max())


@pytest.mark.parametrize("gradient", [slopes, "differences"])
@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_samplers_with_gradients_have_the_posterior(faithful, gradient, backend):
    pytest.importorskip("numba")
    draws = emomc.sample(model_of(faithful, gradient), proposal="nuts", backend=backend, seed=1, progress=False)
    expected = emomc.sample(as_expression(faithful), proposal="nuts", seed=2, progress=False)
    assert draws.trusted
    for name in ("a", "b", "s"):
        one, other = draws.summary(name)[name], expected.summary(name)[name]
        assert abs(one["mean"] - other["mean"]) < 5 * math.hypot(one["mcse_mean"], other["mcse_mean"])


def test_threads_do_not_matter(faithful):
    pytest.importorskip("numba")
    many = {name: np.tile(values, 40) for name, values in faithful.items()}
    options = dict(draws=30, warmup=60, chains=2, seed=1, proposal="hmc", progress=False)
    with pytest.warns(emomc.DrawsWarning):
        one = emomc.sample(model_of(many, slopes), threads=1, **options)
        two = emomc.sample(model_of(many, slopes), threads=2, **options)
    for name in ("a", "b", "s"):
        np.testing.assert_array_equal(one[name], two[name])


def test_a_wrong_gradient_is_said_and_changes_no_posterior():
    pytest.importorskip("numba")

    def density(x, m):
        return -0.5 * (x - m) ** 2

    def wrong(x, m, out):
        out[0] = 1.3 * (x - m) + 0.1

    x = np.random.default_rng(3).normal(size=50)
    model = emomc.Model(
        data={"x": x},
        parameters={"m": emomc.real()},
        priors={"m": emomc.normal(0, 10)},
        log_density=density,
        gradient=wrong,
    )
    check = model.check_gradient([2.0])
    assert not check.agrees and check.worst == 0
    assert check.difference == pytest.approx(np.sum(x - 2) - 2 / 100, rel=1e-6)
    with pytest.warns(UserWarning, match="gradient: at a draw from the prior, element 0 of the derivatives"):
        draws = emomc.sample(model, proposal="hmc", draws=10_000, seed=1, progress=False)
    # The posterior is normal. With a false-alarm rate of 1e-6 each mean is within 4.9 standard errors.
    variance = 1 / (50 + 1 / 100)
    mean = variance * x.sum()
    row = draws.summary("m")["m"]
    assert row["mcse_mean"] < 0.01
    assert abs(row["mean"] - mean) < 4.9 * row["mcse_mean"]
    squares = (draws["m"] - mean) ** 2
    # Squares of a normal variable have the standard deviation sqrt(2) variance; their effective sample size is at
    # least half that of the draws.
    assert abs(squares.mean() - variance) < 4.9 * math.sqrt(2) * variance / math.sqrt(row["ess_bulk"] / 2)


def test_a_run_goes_on_where_the_gradient_is_the_same(faithful, tmp_path):
    pytest.importorskip("numba")
    options = dict(warmup=100, chains=2, proposal="nuts", progress=False, directory=tmp_path / "run")
    with pytest.warns(emomc.DrawsWarning):
        emomc.sample(model_of(faithful, slopes), draws=50, **options)
        longer = emomc.sample(model_of(faithful, slopes), draws=80, resume=True, **options)
        whole = emomc.sample(model_of(faithful, slopes), draws=80, **options | {"directory": None})
    np.testing.assert_array_equal(longer["a"], whole["a"])
    with pytest.raises(emomc.InputError, match="the run was made on"):
        emomc.sample(model_of(faithful, "differences"), draws=90, resume=True, **options)


def past_the_end(waiting, a, b, s, out):
    out[3] = a


@pytest.mark.parametrize(
    "gradient, message",
    [
        (lambda waiting, a, out, c: None, "gradient: the argument c is no column and no parameter; allowed: .*out"),
        (lambda waiting, a: None, "gradient: it has no argument out"),
        (lambda waiting, a, out, w: None, "gradient: the argument w is a column that log_density does not take"),
        (lambda waiting, *out: None, "gradient: the argument out is not positional"),
        (lambda waiting, a, out: out.none(), "gradient: Numba cannot compile it"),
        (past_the_end, "gradient: it uses an element that an array does not have at row 0 .*: index 3 is out of bounds"),
    ],
)
def test_errors_say_what_is_wrong(faithful, gradient, message):
    pytest.importorskip("numba")
    with pytest.raises(emomc.InputError, match=message):
        model_of(faithful | {"w": np.ones(272)}, gradient)


def test_a_gradient_goes_with_a_function(faithful):
    pytest.importorskip("numba")
    with pytest.raises(ValueError, match="gradient: the gradient of an expression is derived automatically"):
        as_expression(faithful, gradient="differences")
    with pytest.raises(TypeError, match='gradient: allowed: a function, or "differences"'):
        model_of(faithful, "numerical")
    with pytest.raises(emomc.InputError, match="gradient: out is the array of derivatives"):
        emomc.Model(
            data={"out": [1.0, 2.0]},
            parameters={"m": emomc.real()},
            priors={"m": emomc.normal(0, 1)},
            log_density=lambda out, m: -0.5 * (out - m) ** 2,
            gradient=lambda out, m: None,
        )


def test_gradients_are_linked_into_kernels_without_a_gpu(faithful):
    cuda_target()
    for gradient, weights in ((slopes, "w"), ("differences", "")):
        model = model_of(faithful | {"w": np.ones(272)}, gradient, weights=weights)
        kernels = model._posterior.function_kernels(9, 0)
        assert len(kernels) == 3
        assert all(0 < registers <= 255 and size > 1000 for registers, size in kernels), kernels


@pytest.mark.skipif(not has_gpu(), reason="no GPU")
@pytest.mark.parametrize("gradient", [slopes, "differences"])
def test_a_gpu_samples_with_gradients(faithful, gradient):
    cuda_target()
    many = {name: np.tile(values, 40) for name, values in faithful.items()}
    # Rounding errors grow with every leapfrog, so that only a few steps can be compared.
    options = dict(chains=4, draws=3, warmup=2, seed=1, proposal="hmc", progress=False)
    with pytest.warns(emomc.DrawsWarning):
        gpu = emomc.sample(model_of(many, gradient), backend="cuda", **options)
        cpu = emomc.sample(model_of(many, gradient), backend="cpu", **options)
    for name in gpu.parameters:
        np.testing.assert_allclose(gpu[name], cpu[name], rtol=1e-5, atol=1e-7)

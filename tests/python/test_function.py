"""Tests log densities that are Python functions."""

import builtins
import math
import subprocess
import sys
import textwrap

import emomc
import numpy as np
import pytest
from gpu_array import CudartArray, has_gpu

PRIORS = {"a": emomc.normal(0, 50), "b": emomc.normal(0, 50), "s": emomc.half_normal(20)}
PARAMETERS = {"a": emomc.real(), "b": emomc.real(), "s": emomc.positive()}


def line(waiting, s, duration, b, a):
    z = (waiting - a - b * duration) / s
    return -0.5 * z * z - math.log(s) - 0.5 * math.log(2 * math.pi)


def as_function(data, function=line, **more):
    return emomc.Model(data=data, parameters=PARAMETERS, log_density=function, priors=PRIORS, **more)


def as_expression(data, **more):
    return emomc.Model(
        data=data,
        parameters=PARAMETERS,
        log_density="normal_lpdf(waiting, a + b * duration, s)",
        priors=PRIORS,
        **more,
    )


def test_a_function_is_the_expression(faithful):
    pytest.importorskip("numba")
    ours, expression = as_function(faithful), as_expression(faithful)
    for seed in range(5):
        u = expression.initial(seed)
        assert ours.log_density(u) == pytest.approx(expression.log_density(u), rel=1e-12)
    weights = np.arange(272) % 3
    heavy = faithful | {"w": weights}
    theta = [33.0, 11.0, 6.0]
    assert as_function(heavy, weights="w").log_posterior(theta) == pytest.approx(
        as_expression(heavy, weights="w").log_posterior(theta), rel=1e-12
    )


def test_a_function_is_sampled(faithful):
    pytest.importorskip("numba")
    draws = emomc.sample(as_function(faithful, derived={"ratio": "a / b"}), seed=1, progress=False)
    expected = emomc.sample(as_expression(faithful), seed=2, progress=False)
    assert draws.trusted
    for name in ("a", "b", "s"):
        one, other = draws.summary(name)[name], expected.summary(name)[name]
        assert abs(one["mean"] - other["mean"]) < 5 * math.hypot(one["mcse_mean"], other["mcse_mean"])
    np.testing.assert_allclose(draws["ratio"], draws["a"] / draws["b"])
    # The reference engine evaluates one row at a time, and the other engine many: the draws are the same up to
    # rounding.
    options = dict(draws=50, warmup=100, chains=2, seed=1, progress=False)
    one = emomc.sample(as_function(faithful), backend="reference", **options)
    other = emomc.sample(as_function(faithful), backend="cpu", threads=2, **options)
    np.testing.assert_allclose(one["a"], other["a"], rtol=1e-6)


def test_lists_are_arrays():
    pytest.importorskip("numba")
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 150), rng.normal(6, 1, 50)])

    def mixture(x, w, m):
        return math.log(w[0] * math.exp(-0.5 * (x - m[0]) ** 2) + w[1] * math.exp(-0.5 * (x - m[1]) ** 2))

    model = emomc.Model(
        data={"x": x},
        parameters={"w": emomc.simplex(2), "m": emomc.real(2, order="increasing")},
        log_density=mixture,
        priors={"w": emomc.dirichlet(1), "m": emomc.normal(0, 10)},
    )
    draws = emomc.sample(model, seed=1, progress=False)
    np.testing.assert_allclose(draws["m"].mean(axis=(0, 1)), [0, 6], atol=0.5)
    np.testing.assert_allclose(draws["w"].mean(axis=(0, 1)), [0.75, 0.25], atol=0.1)


def test_runs_go_on_where_the_function_is_the_same(faithful, tmp_path):
    pytest.importorskip("numba")
    options = dict(warmup=100, chains=2, progress=False, directory=tmp_path / "run")
    emomc.sample(as_function(faithful), draws=50, **options)
    longer = emomc.sample(as_function(faithful), draws=80, resume=True, **options)
    whole = emomc.sample(as_function(faithful), draws=80, **options | {"directory": None})
    np.testing.assert_array_equal(longer["a"], whole["a"])
    np.testing.assert_array_equal(emomc.read_run(tmp_path / "run")["a"], whole["a"])

    with pytest.raises(emomc.InputError, match="the run was made on cpu, double, compiled by Numba"):
        emomc.sample(as_function(faithful, function=wider()), draws=90, resume=True, **options)


def wider():
    inner = pytest.importorskip("numba").njit(line)

    def of_twice_the_sd(waiting, duration, a, b, s):
        return inner(waiting, 2 * s, duration, b, a)

    return of_twice_the_sd


@pytest.mark.parametrize(
    "function, more, message",
    [
        (lambda waiting, a, c: waiting - a * c, {}, "the argument c is no column and no parameter; allowed: duration"),
        (lambda a: a, {}, "no argument is a column"),
        (lambda waiting: waiting, {}, "no argument is a parameter"),
        (lambda waiting, *a: waiting, {}, "the argument a is not positional"),
        (lambda waiting, a: waiting + "text" + a, {}, "log_density: Numba cannot compile it"),
        (line, {"where": {"z": "a"}}, "where: allowed with an expression only"),
        (line, {"precision": "mixed"}, "precision: a function is of float64"),
    ],
)
def test_errors_say_what_is_wrong(faithful, function, more, message):
    pytest.importorskip("numba")
    with pytest.raises(ValueError, match=message):
        emomc.sample(as_function(faithful, function=function, **more), draws=10, warmup=10, progress=False)


def test_what_a_function_cannot_do(faithful):
    pytest.importorskip("numba")
    model = as_function(faithful)
    with pytest.raises(emomc.InputError, match="there is no gradient: a function has none unless it is given"):
        model.log_density_and_gradient(model.initial(1))
    with pytest.raises(emomc.InputError, match="nuts needs a gradient"):
        emomc.sample(model, proposal="nuts", progress=False)
    if not has_gpu():
        with pytest.raises(emomc.InputError, match="backend:? cuda"):
            emomc.sample(model, backend="cuda", progress=False)
    with pytest.raises(TypeError, match="log_density: allowed: an expression, or a function"):
        as_function(faithful, function=3)


def test_without_numba_a_message_says_what_to_do(faithful, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "numba":
            raise ImportError("no numba")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install numba, or write the density as an expression"):
        as_function(faithful)


def test_emomc_does_not_import_numba():
    code = textwrap.dedent(
        """
        import sys
        import emomc
        assert not {"numba", "arviz", "sklearn", "xarray"} & set(sys.modules)
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True)


needs_gpu = pytest.mark.skipif(not has_gpu(), reason="no GPU")


def cuda_target():
    """Skips if functions cannot be compiled for a GPU: without a working CUDA target of Numba, libnvvm, or a build
    with CUDA."""
    numba = pytest.importorskip("numba")
    pytest.importorskip("numba.cuda")
    try:
        numba.cuda.compile(lambda x: x + 1.0, numba.float64(numba.float64), device=True, cc=(9, 0), output="ltoir")
    except Exception as error:  # for example with a NumPy that is newer than Numba
        pytest.skip(f"Numba's CUDA target does not compile x + 1 here: {error}")
    model = emomc.Model(
        data={"x": [1.0, 2.0]},
        parameters={"m": emomc.real()},
        priors={"m": emomc.normal(0, 1)},
        log_density=lambda x, m: -0.5 * (x - m) ** 2,
    )
    try:
        model._posterior.function_kernels(9, 0)
    except (emomc.InputError, emomc.MachineError) as error:
        if any(text in str(error) for text in ("NVVM", "nvvm", "without CUDA", "not found", "numba-cuda")):
            pytest.skip(str(error))
        raise


def lists(w, x, y, m, s, k):
    total = 0.0
    for i in range(len(m)):
        total += w[i] * math.exp(-0.5 * ((x - m[i]) / s) ** 2) / s
    return math.log(total) + k * y


LISTS = {
    "parameters": {"m": emomc.real(3), "s": emomc.positive(), "w": emomc.simplex(3), "k": emomc.real()},
    "priors": {
        "m": emomc.normal(0, 10),
        "s": emomc.half_normal(5),
        "w": emomc.dirichlet(1),
        "k": emomc.normal(0, 1),
    },
    "log_density": lists,
}


def test_functions_are_linked_into_kernels_without_a_gpu(faithful):
    cuda_target()
    rng = np.random.default_rng(1)
    data = {"x": rng.normal(size=50), "y": rng.normal(size=50), "v": np.arange(50.0)}
    for model in (as_function(faithful), emomc.Model(data=data, **LISTS), emomc.Model(data=data, weights="v", **LISTS)):
        kernels = model._posterior.function_kernels(9, 0)
        assert len(kernels) == 2
        assert all(0 < registers <= 255 and size > 1000 for registers, size in kernels)
    # Another function is different code in the same kernels.
    def other(waiting, s, duration, b, a):
        return math.erf((waiting - a - b * duration) / s)

    sizes = [model._posterior.function_kernels(9, 0) for model in (as_function(faithful), as_function(faithful, other))]
    assert sizes[0] != sizes[1]


def test_a_function_that_only_the_cpu_has_says_so(faithful):
    cuda_target()

    def on_the_cpu(waiting, a):
        return -abs(float(len(np.unique(np.array([waiting, a])))))

    model = as_function(faithful, on_the_cpu)
    assert np.isfinite(model.log_posterior([1.0, 1.0, 1.0]))
    with pytest.raises(emomc.InputError, match="log_density: Numba cannot compile it for a GPU: "):
        model._posterior.function_kernels(9, 0)


def test_without_the_cuda_target_a_message_says_what_to_do(faithful, monkeypatch):
    pytest.importorskip("numba")
    model = as_function(faithful)
    real = builtins.__import__

    def no_cuda(name, *args, **kwargs):
        if name == "numba" and args and args[2] and "cuda" in args[2]:
            raise ImportError("no CUDA target")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_cuda)
    with pytest.raises(emomc.InputError, match="pip install numba-cuda, or use backend cpu"):
        model._posterior.function_kernels(9, 0)


@needs_gpu
def test_a_gpu_samples_a_function(faithful):
    cuda_target()
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(m, 1, 2000) for m in (-4, 0, 5)])
    data = {"x": x, "y": rng.normal(size=len(x)), "v": np.arange(len(x)) % 3.0}
    options = dict(chains=4, draws=60, warmup=60, seed=1, progress=False)
    for make in (
        lambda **more: as_function(faithful, **more),
        lambda **more: emomc.Model(data=data, **LISTS),
        lambda **more: emomc.Model(data=data, weights="v", **LISTS),
    ):
        model = make()
        gpu = emomc.sample(model, backend="cuda", **options)
        cpu = emomc.sample(make(), backend="cpu", **options)
        # The first draws are the same up to rounding; elementary functions of CUDA differ in their last bits.
        for name in gpu.parameters:
            np.testing.assert_allclose(gpu[name][:, 0], cpu[name][:, 0], rtol=1e-6, atol=1e-8)
        for chain in range(2):
            theta = np.concatenate([np.ravel(gpu[name][chain, 5]) for name in gpu.parameters])
            assert gpu["log_density"][chain, 5] == pytest.approx(model.log_posterior(theta), rel=1e-10)


@needs_gpu
def test_a_function_of_a_gpu_array(faithful):
    cuda_target()
    options = dict(chains=2, draws=50, warmup=50, seed=1, progress=False, backend="cuda")
    host = emomc.sample(as_function(faithful), **options)
    gpu = emomc.sample(as_function({name: CudartArray(values) for name, values in faithful.items()}), **options)
    np.testing.assert_array_equal(gpu["a"], host["a"])


@needs_gpu
def test_auto_takes_the_cpu_where_a_gpu_cannot_call_the_function():
    cuda_target()

    def on_the_cpu(x, m):
        return -0.5 * (x - m) ** 2 + 0.0 * len(np.unique(np.array([x, m])))

    x = np.random.default_rng(1).normal(size=100_000)
    model = emomc.Model(
        data={"x": x}, parameters={"m": emomc.real()}, priors={"m": emomc.normal(0, 1)}, log_density=on_the_cpu
    )
    draws = emomc.sample(model, chains=2, draws=5, warmup=5, progress=False)
    assert any("the CPU samples, not a GPU: log_density" in warning for warning in draws.warnings)

"""Tests arrays of other libraries, in the host's memory and in a GPU's."""

import gc
import tracemalloc
import weakref

import emomc
import numpy as np
import pytest
from emomc._arviz import groups_of
from gpu_array import LIBRARIES, CudartArray, has_gpu, to_gpu

PRIORS = {"m": emomc.normal(0, 50), "s": emomc.half_normal(20)}
PARAMETERS = {"m": emomc.real(), "s": emomc.positive()}

needs_gpu = pytest.mark.skipif(not has_gpu(), reason="no GPU")


def normal(data, column="x", **more):
    return emomc.Model(
        data=data, parameters=PARAMETERS, priors=PRIORS, log_density=f"normal_lpdf({column}, m, s)", **more
    )


def numbers(count=1000):
    return np.random.default_rng(1).normal(3, 2, count).round(4)


THETA = [3.0, 2.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.reshape(-1, 1),
        lambda x: np.repeat(x, 3)[::3],
        lambda x: x[::-1],
        lambda x: np.asfortranarray(np.stack([x, x + 1], axis=1)),
        lambda x: np.stack([x, x + 1], axis=1)[:, :1],
        lambda x: x.astype(">f8"),
        lambda x: x.tolist(),
    ],
)
def test_arrays_of_any_layout_are_the_same_table(change):
    x = numbers()
    changed = change(x)
    two_axes = isinstance(changed, np.ndarray) and changed.ndim == 2
    model = normal(changed, "c0") if two_axes else normal({"x": changed})
    value = normal({"x": x}).log_posterior(THETA)
    assert model.log_posterior(THETA) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("kind", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g"])
def test_numbers_of_any_type_are_the_same_table(kind):
    x = np.arange(100) % 2 if kind == "?" else np.arange(100)
    assert normal({"x": x.astype(kind)}).log_posterior(THETA) == normal({"x": x.astype(float)}).log_posterior(THETA)
    mixture = emomc.GaussianMixture(1).fit(x.astype(kind)[:, None])
    assert mixture.means_ == pytest.approx(x.mean())


def test_other_types_are_refused():
    for wrong in (np.array(["a", "b"]), np.array([1j, 2j])):
        with pytest.raises(ValueError, match="allowed: numbers"):
            normal({"x": wrong})


def test_a_host_array_of_dlpack_is_one():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    x = numbers()
    assert normal({"x": jax.numpy.asarray(x)}).log_posterior(THETA) == normal({"x": x}).log_posterior(THETA)
    assert normal(jax.numpy.asarray(x[:, None]), "c0").log_posterior(THETA) == normal({"x": x}).log_posterior(THETA)


def test_columns_go_into_the_table_without_copies_of_numpy():
    x, y = numbers(1_000_000), np.arange(1_000_000, dtype=np.int32)
    for data in ({"x": x, "y": y}, np.stack([x, x], axis=1), {"x": np.repeat(x, 2)[::2]}):
        tracemalloc.start()
        try:
            normal(data, "c0" if isinstance(data, np.ndarray) else "x")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < x.nbytes / 20


class NoGpuArray:
    """An array that claims to be on a GPU, but is in the host's memory."""

    def __init__(self, array):
        self.kept, self.shape, self.dtype = array, array.shape, array.dtype

    @property
    def __cuda_array_interface__(self):
        data = (self.kept.ctypes.data, False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "version": 3}


def test_an_array_that_is_on_no_gpu_is_refused():
    for data in ({"x": NoGpuArray(numbers())}, NoGpuArray(numbers()[:, None])):
        with pytest.raises(emomc.InputError, match="GPU"):
            normal(data, "c0" if isinstance(data, NoGpuArray) else "x")
    with pytest.raises(emomc.InputError, match="GPU"):
        emomc.GaussianMixture(1).fit(NoGpuArray(numbers()[:, None]))
    mixture = emomc.GaussianMixture(1).fit(numbers()[:, None])
    with pytest.raises(emomc.InputError, match="not copied to the host"):
        mixture.predict(NoGpuArray(numbers()[:, None]))
    with pytest.raises(ValueError, match="3 axes"):
        normal(NoGpuArray(numbers().reshape(10, 10, 10)))


def on_gpu(array, library):
    try:
        return to_gpu(array, library)
    except ImportError as error:
        pytest.skip(str(error))


@needs_gpu
@pytest.mark.parametrize("library", LIBRARIES)
def test_draws_of_a_gpu_array_are_those_of_the_host_array(library):
    x = numbers(5000)
    options = dict(chains=2, draws=100, warmup=100, seed=1, progress=False, backend="cuda")
    expected = emomc.sample(normal({"x": x}), **options)
    for data, column in (({"x": on_gpu(x, library)}, "x"), (on_gpu(x[:, None], library), "c0")):
        draws = emomc.sample(normal(data, column), **options)
        assert np.array_equal(draws["m"], expected["m"]) and np.array_equal(draws["s"], expected["s"])
    rows = np.stack([x, np.where(x > 3, x, -x)], axis=1)
    host = emomc.GaussianMixture(2, ordered=True).fit_posterior(rows, **options)
    gpu = emomc.GaussianMixture(2, ordered=True).fit_posterior(on_gpu(rows, library), **options)
    for name in ("weights", "means", "covariances"):
        assert np.array_equal(gpu.draws_[name], host.draws_[name])
    assert gpu.predict_proba(rows).shape == (5000, 2)
    fitted = emomc.GaussianMixture(2).fit(on_gpu(rows, library))
    assert fitted.log_likelihood_ == pytest.approx(emomc.GaussianMixture(2).fit(rows).log_likelihood_, rel=1e-9)


@needs_gpu
def test_types_and_layouts_of_a_gpu_array():
    x = np.arange(200)
    options = dict(chains=2, draws=20, warmup=20, seed=1, progress=False, backend="cuda")
    expected = emomc.sample(normal({"x": x.astype(float)}), **options)
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        values = (x % 100).astype(kind) if kind == "i1" else x.astype(kind)
        draws = emomc.sample(normal({"x": CudartArray(values)}), **options)
        want = emomc.sample(normal({"x": values.astype(float)}), **options) if kind == "i1" else expected
        assert np.array_equal(draws["m"], want["m"])
    with pytest.raises(emomc.InputError, match="float64, float32, integers and booleans"):
        normal({"x": CudartArray(x.astype("f2"))})
    with pytest.raises(emomc.InputError, match="one memory for all columns"):
        normal({"x": CudartArray(x), "y": x})
    bad = x.astype(float)
    bad[7] = np.nan
    with pytest.raises(emomc.InputError, match="row 7, column x: nan is not a finite number"):
        normal({"x": CudartArray(bad)})


@needs_gpu
def test_a_model_keeps_its_array_and_lets_it_go():
    array = CudartArray(numbers())
    there = weakref.ref(array)
    model = normal({"x": array})
    draws = emomc.sample(model, chains=1, draws=20, warmup=20, seed=1, progress=False)
    del array
    gc.collect()
    assert there() is not None
    assert np.isfinite(model.log_posterior(THETA))
    del model, draws
    gc.collect()
    assert there() is None


@needs_gpu
def test_what_needs_the_host_is_refused():
    model = normal({"x": CudartArray(numbers())})
    draws = emomc.sample(model, chains=2, draws=20, warmup=20, seed=1, progress=False)
    with pytest.raises(emomc.InputError, match="backend: cpu computes on the host"):
        emomc.sample(model, backend="cpu")
    with pytest.raises(emomc.InputError, match="log likelihoods of rows"):
        draws.log_likelihoods()
    groups = groups_of(draws, None, False, False).of
    assert "observed_data" not in groups and "posterior" in groups
    with pytest.raises(emomc.InputError, match="log likelihoods of rows"):
        groups_of(draws, True, False, False)
    with pytest.raises(emomc.InputError, match="replicates of rows are drawn on the CPU"):
        groups_of(draws, None, True, False)

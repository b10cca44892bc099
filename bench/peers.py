"""Runs other programs on the problems of problem.py. Each function prepares a problem of `n` rows and returns
run(count), which does the work `count` times (`count` times run.steps, if it has this attribute) and waits for the
end. It raises ImportError if the peer is not installed.

Parameters stay on the peer's device and results are not read back, although a sampler would have to do both. Loops
are on the device if the peer supports this (JAX), or the launches form one graph (PyTorch).
"""
import importlib

import numpy as np

from peers_gpu import cupy_mixture, cupy_two_gaussian, first_kernel
from problem import D, K, mixture, repeat


def scikit_learn(n, chains):
    from sklearn.mixture import GaussianMixture

    weights, means, scales, x = mixture(n)
    peer = GaussianMixture(K, covariance_type="diag")
    peer.weights_, peer.means_, peer.covariances_ = weights, means, scales**2
    peer.precisions_cholesky_ = 1 / scales
    return repeat(lambda: peer.score(x))


def imported(module, name):
    """Returns a peer whose module is imported when the peer is used."""
    def prepare(n, chains):
        return getattr(importlib.import_module(module), name)(n, chains)

    return prepare


def jax_step(n, chains):
    """Prepares a jitted random walk with its loop on the device, vmapped over chains, in float32 with sums in
    float32."""
    import jax
    import jax.numpy as jnp

    weights, means, scales, rows = mixture(n)
    x = jnp.asarray(rows, jnp.float32)

    def log_likelihood(u):
        log_w = jax.nn.log_softmax(u[:K])
        m, log_s = u[K:K + K * D].reshape(K, D), u[K + K * D:].reshape(K, D)
        z = (x[:, None, :] - m) * jnp.exp(-log_s)
        terms = log_w - log_s.sum(1) - 0.5 * (z * z).sum(2)
        return jax.scipy.special.logsumexp(terms, axis=1).sum()

    def step(i, state):
        u, value, key = state
        key, a, b = jax.random.split(key, 3)
        candidate = u + 1e-3 * jax.random.normal(a, u.shape)
        there = jax.vmap(log_likelihood)(candidate)
        accept = jnp.log(jax.random.uniform(b, value.shape)) < there - value
        return jnp.where(accept[:, None], candidate, u), jnp.where(accept, there, value), key

    start = np.concatenate([np.log(weights), means.ravel(), np.log(scales).ravel()]).astype(np.float32)
    u = jnp.tile(start, (chains, 1))
    steps = max(5, min(2000, int(2e9 / (n * chains))))  # a compile-time constant, which is faster
    loop = jax.jit(lambda u, v, k: jax.lax.fori_loop(0, steps, step, (u, v, k)))
    value, key = jax.vmap(log_likelihood)(u), jax.random.PRNGKey(0)
    run = repeat(lambda: jax.block_until_ready(loop(u, value, key)))
    run.steps = steps
    return run


def torch_mixture(n, chains):
    """Prepares quadratic forms as matrix products in float32, in a CUDA graph."""
    import torch

    if not torch.cuda.is_available():
        raise ImportError("PyTorch sees no GPU")
    weights, means, scales, rows = mixture(n)
    x = torch.tensor(rows, dtype=torch.float32, device="cuda")
    features = torch.cat([x * x, x], 1)
    w, m, s = (torch.tensor(v, dtype=torch.float32, device="cuda") for v in (weights, means, scales))

    def evaluate():
        precision = s**-2
        constants = w.log() - s.log().sum(1) - 0.5 * (m * m * precision).sum(1)
        slopes = torch.cat([-0.5 * precision, m * precision], 1)
        return torch.logsumexp(torch.addmm(constants, features, slopes.T), 1).sum()

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        evaluate()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        evaluate()
    run = repeat(graph.replay, torch.cuda.synchronize)
    run.inputs = evaluate  # keeps the tensors alive whose memory the graph reads
    return run


# name: (prepare, what is timed, precision of emomc in the comparison, rows, chains, whether on a GPU)
MIXTURE_ROWS = (10_000, 100_000, 1_000_000)
PEERS = {
    "scikit-learn": (scikit_learn, "evaluation", "double", MIXTURE_ROWS, (1,), False),
    "Stan": (imported("peers_stan", "stan_mixture"), "evaluation", "double", (10_000, 100_000), (1,), False),
    "one thread a row": (first_kernel, "evaluation", "mixed", MIXTURE_ROWS, (1,), True),
    "CuPy": (cupy_mixture, "evaluation", "mixed", MIXTURE_ROWS, (1,), True),
    "PyTorch": (torch_mixture, "evaluation", "mixed", MIXTURE_ROWS, (1,), True),
    "Numba": (imported("peers_numba", "numba_mixture"), "evaluation", "mixed", MIXTURE_ROWS, (1,), True),
    "JAX": (jax_step, "step", "mixed", MIXTURE_ROWS, (1, 256), True),
    "CuPy, two Gaussians": (cupy_two_gaussian, "two_gaussian", "double", (1_000_000,), (1,), True),
    "Numba, two Gaussians": (imported("peers_numba", "numba_two_gaussian"), "two_gaussian", "double", (1_000_000,), (1,), True),
    "Numba on the CPU, two Gaussians": (imported("peers_numba", "numba_cpu_two_gaussian"), "two_gaussian", "double", (1_000_000,), (1,), False),
}
MOST_ROWS_AND_CHAINS = 3e7  # JAX stores n x K numbers for each chain

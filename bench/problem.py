"""The problems that run.py times: data and parameters, which are the same for all peers."""
import functools

import numpy as np

D, K = 13, 8
FUSED_MULTIPLY_ADDS = 2 * K * D  # at least, for each row
TWO_GAUSSIAN = (0.7, 0.3, 0.8, 2.2)  # fraction, common mean, sigmas


@functools.cache
def mixture(rows):
    """Returns weights, means and scales of a diagonal mixture, and rows drawn from it, in float64."""
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.full(K, 5.0))
    means, scales = rng.uniform(-2.5, 2.5, (K, D)), rng.uniform(0.5, 1.3, (K, D))
    z = rng.choice(K, rows, p=weights)
    return weights, means, scales, means[z] + scales[z] * rng.normal(size=(rows, D))


def log_likelihood(weights, means, scales, x):
    """Returns the log likelihood, computed by NumPy in the precision of the arguments, including sums, for 10,000
    rows at a time."""
    constants = np.log(weights) - np.log(scales).sum(1) - x.dtype.type(0.5 * D * np.log(2 * np.pi))
    parts = []
    for part in np.array_split(x, max(1, len(x) // 10_000)):
        terms = constants - x.dtype.type(0.5) * (((part[:, None, :] - means) / scales) ** 2).sum(2)
        largest = terms.max(1)
        parts.append(largest + np.log(np.exp(terms - largest[:, None]).sum(1)))
    return float(np.concatenate(parts).sum())


@functools.cache
def events(rows):
    """Returns draws from two Gaussians with a common mean, in float64."""
    rng = np.random.default_rng(2)
    fraction, mean, *sigmas = TWO_GAUSSIAN
    return mean + np.where(rng.uniform(size=rows) < fraction, *sigmas) * rng.normal(size=rows)


def repeat(once, wait=lambda: None):
    """Returns the function run(count) that peers.py describes."""
    def run(count):
        for _ in range(count):
            once()
        wait()

    return run

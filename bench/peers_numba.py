"""The peers of peers.py that use Numba, on GPU and CPU. This module is imported only when they are used."""
import functools
import math

import numpy as np

if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # numba 0.68 uses it, NumPy 2.5 no longer has it
import numba
from numba import cuda, float64

from problem import D, K, TWO_GAUSSIAN, events, mixture, repeat


@functools.cache
def numba_sums(log_density, threads=256, blocks=1056):
    """Returns a kernel that adds the sum of log_density(rows, i, parameters) over rows to out[0], in float64."""
    device_function = cuda.jit(device=True)(log_density)

    @cuda.jit
    def kernel(x, parameters, n, out):
        part = cuda.shared.array(threads, float64)
        total = 0.0
        for i in range(cuda.grid(1), n, cuda.gridsize(1)):
            total += device_function(x, i, parameters)
        lane = cuda.threadIdx.x
        part[lane] = total
        cuda.syncthreads()
        stride = threads // 2
        while stride > 0:
            if lane < stride:
                part[lane] += part[lane + stride]
            cuda.syncthreads()
            stride //= 2
        if lane == 0:
            cuda.atomic.add(out, 0, part[0])

    return kernel[blocks, threads]


def numba_problem(log_density, x, parameters):
    if not cuda.is_available():
        raise ImportError("Numba sees no GPU")
    kernel = numba_sums(log_density)
    rows, numbers, out = cuda.to_device(x), cuda.to_device(parameters), cuda.to_device(np.zeros(1))
    return repeat(lambda: kernel(rows, numbers, x.shape[-1], out), cuda.synchronize)


def mixture_log_density(x, i, p):
    largest, total = np.float32(-1e30), np.float32(0)
    for k in range(K):
        term = p[k, 2 * D]
        for j in range(D):
            z = (x[j, i] - p[k, j]) * p[k, D + j]
            term -= np.float32(0.5) * z * z
        if term > largest:
            total = total * math.exp(largest - term) + np.float32(1)
            largest = term
        else:
            total += math.exp(term - largest)
    return largest + math.log(total)


def two_gaussian_log_density(x, i, p):
    a, b = (x[i] - p[1]) / p[2], (x[i] - p[1]) / p[3]
    return math.log(p[0] / p[2] * math.exp(-0.5 * a * a) + (1 - p[0]) / p[3] * math.exp(-0.5 * b * b))


def numba_mixture(n, chains):
    """Prepares the mixture in float32, with contiguous columns and sums in float64."""
    weights, means, scales, x = mixture(n)
    constants = np.log(weights) - np.log(scales).sum(1) - 0.5 * D * np.log(2 * np.pi)
    parameters = np.concatenate([means, 1 / scales, constants[:, None]], 1).astype(np.float32)
    return numba_problem(mixture_log_density, np.ascontiguousarray(x.T.astype(np.float32)), parameters)


def numba_two_gaussian(n, chains):
    return numba_problem(two_gaussian_log_density, events(n), np.array(TWO_GAUSSIAN))


@numba.njit(parallel=True, fastmath=True)
def two_gaussian_on_cpu(x, f, m, s1, s2):
    total = 0.0
    for i in numba.prange(len(x)):
        a, b = (x[i] - m) / s1, (x[i] - m) / s2
        total += math.log(f / s1 * math.exp(-0.5 * a * a) + (1 - f) / s2 * math.exp(-0.5 * b * b))
    return total - len(x) * 0.5 * math.log(2 * math.pi)


def numba_cpu_two_gaussian(n, chains):
    x = events(n)
    return repeat(lambda: two_gaussian_on_cpu(x, *TWO_GAUSSIAN))

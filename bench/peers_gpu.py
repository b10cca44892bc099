"""The peers of peers.py that are kernels of one's own: CuPy and Numba, and the program that emomc began as."""
import math

import numpy as np

from problem import D, K, TWO_GAUSSIAN, events, mixture, repeat

# A thread a row, rows side by side, every number and every sum float32.
SEED = r"""
extern "C" __global__ void log_density(const float* x, const float* weights, const float* means, const float* scales,
                                       float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float terms[K], largest = -1e30f;
  for (int k = 0; k < K; ++k) {
    float q = 0, log_scale = 0;
    for (int j = 0; j < D; ++j) {
      float z = (x[i * D + j] - means[k * D + j]) / scales[k * D + j];
      q += z * z;
      log_scale += logf(scales[k * D + j]);
    }
    terms[k] = logf(weights[k]) - log_scale - 0.5f * q - 0.5f * D * 1.837877066f;
    largest = fmaxf(largest, terms[k]);
  }
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += expf(terms[k] - largest);
  out[i] = largest + logf(sum);
}
"""


def seed_evaluation(n):
    import cupy as cp

    if not cp.cuda.runtime.getDeviceCount():
        raise ImportError("CuPy sees no GPU")
    kernel = cp.RawKernel(f"#define K {K}\n#define D {D}\n" + SEED, "log_density")
    weights, means, scales, x = (cp.asarray(v, cp.float32) for v in mixture(n))
    out = cp.empty(n, cp.float32)

    def evaluate():
        kernel(((n + 255) // 256,), (256,), (x, weights, means, scales, out, n))
        return out.sum(dtype=cp.float32)

    return evaluate


def seed(n, chains):
    """float32, row-major, sum in float32, as the program that this one replaces."""
    import cupy as cp

    return repeat(seed_evaluation(n), cp.cuda.Device().synchronize)


def cupy_mixture(n, chains):
    """Quadratic forms as a matrix product, log-sum-exp as one fused reduction a row."""
    import cupy as cp

    if not cp.cuda.runtime.getDeviceCount():
        raise ImportError("CuPy sees no GPU")
    weights, means, scales, x = (cp.asarray(v, cp.float32) for v in mixture(n))
    features = cp.concatenate([x * x, x], 1)

    @cp.fuse
    def shifted_exp(terms, largest):
        return cp.exp(terms - largest)

    def evaluate():
        precision = scales**-2
        constants = cp.log(weights) - cp.log(scales).sum(1) - 0.5 * (means * means * precision).sum(1)
        terms = features @ cp.concatenate([-0.5 * precision, means * precision], 1).T + constants
        largest = terms.max(1, keepdims=True)
        return (largest[:, 0] + cp.log(shifted_exp(terms, largest).sum(1))).sum(dtype=cp.float64)

    return repeat(evaluate, cp.cuda.Device().synchronize)


def cupy_two_gaussian(n, chains):
    """One reduction kernel."""
    import cupy as cp

    if not cp.cuda.runtime.getDeviceCount():
        raise ImportError("CuPy sees no GPU")
    kernel = cp.ReductionKernel(
        "T x, T f, T m, T s1, T s2", "T y",
        "log(f / s1 * exp(-0.5 * (x - m) * (x - m) / (s1 * s1)) + (1 - f) / s2 * exp(-0.5 * (x - m) * (x - m) / (s2 * s2)))",
        "a + b", "y = a", "0", "two_gaussian")
    x = cp.asarray(events(n))
    return repeat(lambda: kernel(x, *TWO_GAUSSIAN), cp.cuda.Device().synchronize)


def numba_sums(log_density, threads=256, blocks=1056):
    """A kernel that adds log_density(row, arguments) over rows into out[0], in float64."""
    from numba import cuda, float64

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
    from numba import cuda

    if not cuda.is_available():
        raise ImportError("Numba sees no GPU")
    kernel = numba_sums(log_density)
    rows, numbers, out = cuda.to_device(x), cuda.to_device(parameters), cuda.to_device(np.zeros(1))
    n = x.shape[-1]
    return repeat(lambda: kernel(rows, numbers, n, out), cuda.synchronize)


def numba_mixture(n, chains):
    """float32, columns contiguous, sums in float64."""
    def log_density(x, i, p):
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

    weights, means, scales, x = mixture(n)
    constants = np.log(weights) - np.log(scales).sum(1) - 0.5 * D * np.log(2 * np.pi)
    parameters = np.concatenate([means, 1 / scales, constants[:, None]], 1).astype(np.float32)
    return numba_problem(log_density, np.ascontiguousarray(x.T.astype(np.float32)), parameters)


def numba_two_gaussian(n, chains):
    def log_density(x, i, p):
        a, b = (x[i] - p[1]) / p[2], (x[i] - p[1]) / p[3]
        return math.log(p[0] / p[2] * math.exp(-0.5 * a * a) + (1 - p[0]) / p[3] * math.exp(-0.5 * b * b))

    return numba_problem(log_density, events(n), np.array(TWO_GAUSSIAN))

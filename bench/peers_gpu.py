"""The peers of peers.py that use CuPy, among them the kernel that was emomc's first version."""
from problem import D, K, TWO_GAUSSIAN, events, mixture, repeat

# One thread for each row, row-major, all numbers and sums in float32.
FIRST_KERNEL = r"""
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


def first_kernel_evaluation(n):
    import cupy as cp

    if not cp.cuda.runtime.getDeviceCount():
        raise ImportError("CuPy sees no GPU")
    kernel = cp.RawKernel(f"#define K {K}\n#define D {D}\n" + FIRST_KERNEL, "log_density")
    weights, means, scales, x = (cp.asarray(v, cp.float32) for v in mixture(n))
    out = cp.empty(n, cp.float32)

    def evaluate():
        kernel(((n + 255) // 256,), (256,), (x, weights, means, scales, out, n))
        return out.sum(dtype=cp.float32)

    return evaluate


def first_kernel(n, chains):
    """Prepares the first version of emomc: float32, row-major, with the sum in float32."""
    import cupy as cp

    return repeat(first_kernel_evaluation(n), cp.cuda.Device().synchronize)


def cupy_mixture(n, chains):
    """Prepares quadratic forms as a matrix product, and log-sum-exp as one fused reduction for each row."""
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
    """Prepares an elementwise kernel and CuPy's sum. A ReductionKernel would run in one block and take 1.3 ms."""
    import cupy as cp

    if not cp.cuda.runtime.getDeviceCount():
        raise ImportError("CuPy sees no GPU")
    kernel = cp.ElementwiseKernel(
        "T x, T f, T m, T s1, T s2", "T y",
        "T a = (x - m) / s1, b = (x - m) / s2; y = log(f / s1 * exp(-0.5 * a * a) + (1 - f) / s2 * exp(-0.5 * b * b))",
        "two_gaussian")
    x = cp.asarray(events(n))
    return repeat(lambda: kernel(x, *TWO_GAUSSIAN).sum(), cp.cuda.Device().synchronize)

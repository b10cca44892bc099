// A prototype that shows what the float64 tensor cores would bring (docs/decisions/runtime-kernels.md,
// Tried): the rates of the pipes beside each other, and an evaluation of K = 8, d = 13 with some rows by mma
// of x^2 and x, and the others by multiply-adds in float32. It is not part of the build; the sums of two
// chains are compared with those of float64 on the host.
//   nvcc -std=c++17 -O3 -gencode arch=compute_90,code=sm_90 -o tensor_cores bench/tensor_cores.cu &&
//   ./tensor_cores
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
// Ends the program if a call of CUDA fails.
#define CK(x)                                          \
  do {                                                 \
    cudaError_t ck_ = (x);                             \
    if (ck_ != cudaSuccess) {                          \
      printf("%s: %s\n", #x, cudaGetErrorString(ck_)); \
      exit(3);                                         \
    }                                                  \
  } while (0)
// The sizes are columns, components, groups of four features, and chains of a block.
constexpr int D = 13, K = 8, Q = 7, CH = 16;
__device__ __forceinline__ void mma16(double (&c)[4], const double (&a)[Q][2], const double (&b)[8]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
      "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]), "d"(a[3][0]),
        "d"(a[3][1]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}
__device__ __forceinline__ void mma8(double (&c)[4], const double (&a)[Q][2], const double (&b)[8]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[4][0]), "d"(a[4][1]), "d"(a[5][0]), "d"(a[5][1]), "d"(b[4]), "d"(b[5]));
}
__device__ __forceinline__ void mma4(double (&c)[4], const double (&a)[Q][2], const double (&b)[8]) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[6][0]), "d"(a[6][1]), "d"(b[6]));
}
__device__ __forceinline__ float ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float lg2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ double lanes2(double p, double q) {  // lane 0: sum of p, lane 16: sum of q
  const int lane = threadIdx.x % 32;
  double v = lane < 16 ? p : q, o = lane < 16 ? q : p;
  v += __shfl_xor_sync(~0u, o, 16);
  for (int m = 8; m; m /= 2) v += __shfl_xor_sync(~0u, v, m);
  return v;
}
// The coefficients of a chain are [4 pieces][32 lanes][2] doubles and 8 constants for tensor cores, and
// [2][13][4][g,h] and 8 shifts for float32.
struct alignas(16) D2 {
  double x, y;
};
constexpr int kTensor = 4 * 32 * 2 + 8, kFloat = 2 * D * 8 + 8;

template <int T>
struct Tensor {
  double a[T][Q][2];
  __device__ void load(const float* rows, int n, int first) {  // rows[j * n + i]
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int i = 0; i < T; ++i)
      for (int q = 0; q < Q; ++q)
        for (int h = 0; h < 2; ++h) {
          const int f = 4 * q + t, j = f / 2;
          double v = j < D ? (double)rows[(size_t)j * n + first + i * 16 + h * 8 + g] : 0.0;
          a[i][q][h] = f % 2 ? v : v * v;
        }
  }
  // Computes the sum over components of the lane's T / 2 rows.
  __device__ void sums(const double* c, float (&out)[T / 2]) const {
    const int lane = threadIdx.x % 32, t = lane % 4;
    double b[8];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      D2 v = *reinterpret_cast<const D2*>(c + (p * 32 + lane) * 2);
      b[2 * p] = v.x;
      b[2 * p + 1] = v.y;
    }
    const D2 s = *reinterpret_cast<const D2*>(c + 256 + 2 * t);
    double acc[T][4];
#pragma unroll
    for (int i = 0; i < T; ++i) {
      acc[i][0] = acc[i][2] = s.x;
      acc[i][1] = acc[i][3] = s.y;
    }
#pragma unroll
    for (int i = 0; i < T; ++i) mma16(acc[i], a[i], b);
#pragma unroll
    for (int i = 0; i < T; ++i) mma8(acc[i], a[i], b);
#pragma unroll
    for (int i = 0; i < T; ++i) mma4(acc[i], a[i], b);
#pragma unroll
    for (int i = 0; i < T; i += 2) {
      float e[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const double* p = &acc[i + u / 2][u % 2 * 2];
        e[u] = ex2((float)p[0]) + ex2((float)p[1]);
      }
      const bool odd = lane & 1, high = lane & 2;
      float k0 = odd ? e[1] : e[0], g0 = odd ? e[0] : e[1], k1 = odd ? e[3] : e[2], g1 = odd ? e[2] : e[3];
      k0 += __shfl_xor_sync(~0u, g0, 1);
      k1 += __shfl_xor_sync(~0u, g1, 1);
      float k = high ? k1 : k0, g = high ? k0 : k1;
      out[i / 2] = k + __shfl_xor_sync(~0u, g, 2);
    }
  }
};
struct alignas(16) F4 {
  float x[4];
};
template <int R>
struct Fused {
  float x[D][R];
  __device__ void load(const float* rows, int n, int first) {
    for (int j = 0; j < D; ++j)
      for (int r = 0; r < R; ++r) x[j][r] = rows[(size_t)j * n + first + threadIdx.x % 32 * R + r];
  }
  __device__ void sums(const float* c, float (&out)[R]) const {
    float t[2][4][R];
    F4 s[2] = {*reinterpret_cast<const F4*>(c + 2 * D * 8), *reinterpret_cast<const F4*>(c + 2 * D * 8 + 4)};
#pragma unroll
    for (int b = 0; b < 2; ++b)
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int r = 0; r < R; ++r) t[b][k][r] = s[b].x[k];
#pragma unroll
    for (int j = 0; j < D; ++j)
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        const F4 p = *reinterpret_cast<const F4*>(c + (b * D + j) * 8),
                 q = *reinterpret_cast<const F4*>(c + (b * D + j) * 8 + 4);
        float z[4][R];
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
          for (int i = 0; i < R; ++i) {
            const int r = k % 2 ? R - 1 - i : i;
            z[k][r] = __fmaf_rn(x[j][r], k < 2 ? p.x[2 * k] : q.x[2 * k - 4],
                                k < 2 ? p.x[2 * k + 1] : q.x[2 * k - 3]);
          }
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
          for (int r = 0; r < R; ++r) t[b][k][r] = __fmaf_rn(-z[k][r], z[k][r], t[b][k][r]);
      }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      float u = (ex2(t[0][0][r]) + ex2(t[0][1][r])) + (ex2(t[0][2][r]) + ex2(t[0][3][r]));
      out[r] = u + ((ex2(t[1][0][r]) + ex2(t[1][1][r])) + (ex2(t[1][2][r]) + ex2(t[1][3][r])));
    }
  }
};
template <int n>
__device__ __forceinline__ double logs(const float (&s)[n]) {
  double v = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) v += (double)lg2(s[i]);
  return v;
}

// Each warp does T tiles of 16 rows by tensor cores and 32 R rows by float32. With split > 0, warps < split
// do only the first kind, and the others only the second kind.
template <int T, int R, int W, int kBlocks, int split>
__global__ void __launch_bounds__(W * 32, kBlocks)
    kernel(const float* __restrict__ rows, int n, const double* __restrict__ ct, const float* __restrict__ cf,
           int chains, double* out) {
  extern __shared__ __align__(16) unsigned char memory[];
  double* st = reinterpret_cast<double*>(memory);
  float* sf = reinterpret_cast<float*>(st + (T ? CH * kTensor : 0));
  __shared__ double part[CH][W];
  const int chain0 = blockIdx.y * CH, w = threadIdx.x / 32;
  constexpr int per_warp_t = 16 * T, per_warp_f = 32 * R;
  constexpr int per_block =
      split ? split * per_warp_t + (W - split) * per_warp_f : W * (per_warp_t + per_warp_f);
  if (T)
    for (int i = threadIdx.x; i < CH * kTensor; i += W * 32) st[i] = ct[(size_t)chain0 * kTensor + i];
  if (R)
    for (int i = threadIdx.x; i < CH * kFloat; i += W * 32) sf[i] = cf[(size_t)chain0 * kFloat + i];
  const int first = blockIdx.x * per_block;
  __syncthreads();
  auto hand = [&](int i, double a, double b) {
    double v = lanes2(a, b);
    if (threadIdx.x % 16 == 0) part[i + threadIdx.x % 32 / 16][w] = v;
  };
  if constexpr (split > 0) {
    if (w < split) {
      Tensor<T> tensor;
      tensor.load(rows, n, first + w * per_warp_t);
#pragma unroll 1
      for (int i = 0; i < CH; i += 2) {
        float u[T / 2], v[T / 2];
        tensor.sums(st + i * kTensor, u);
        tensor.sums(st + (i + 1) * kTensor, v);
        hand(i, logs(u), logs(v));
      }
    } else {
      Fused<R> fused;
      fused.load(rows, n, first + split * per_warp_t + (w - split) * per_warp_f);
#pragma unroll 1
      for (int i = 0; i < CH; i += 2) {
        float u[R];
        double a;
#pragma unroll 1
        for (int h = 0; h < 2; ++h) {
          fused.sums(sf + (i + h) * kFloat, u);
          if (!h) a = logs(u);
        }
        hand(i, a, logs(u));
      }
    }
  } else {
    Tensor<T ? T : 2> tensor;
    Fused<R ? R : 1> fused;
    if constexpr (T > 0) tensor.load(rows, n, first + w * (per_warp_t + per_warp_f));
    if constexpr (R > 0) fused.load(rows, n, first + w * (per_warp_t + per_warp_f) + per_warp_t);
    double held = 0;
#pragma unroll 1
    for (int i = 0; i < CH; ++i) {
      double own = 0;
      float u[T ? T / 2 : 1], v[R ? R : 1];
      if constexpr (T > 0) tensor.sums(st + i * kTensor, u);
      if constexpr (R > 0) fused.sums(sf + i * kFloat, v);
      if constexpr (T > 0) own += logs(u);
      if constexpr (R > 0) own += logs(v);
      if (i & 1) hand(i - 1, held, own);
      held = own;
    }
  }
  __syncthreads();
  if (threadIdx.x < CH) {
    double s = 0;
    for (int i = 0; i < W; ++i) s += part[threadIdx.x][i];
    out[(size_t)(chain0 + threadIdx.x) * gridDim.x + blockIdx.x] = s;
  }
}

// Measures rates of the pipes, alone and beside each other in the same warps.
template <int kDmma, int kFfma, int kDfma>
__global__ void __launch_bounds__(256, 2)
    pipes(double* out, int repeats, double seed, float fseed, long long* cycles) {
  double c[4][4], a[Q][2], b[8], d[8];
  float f[16];
  for (auto& x : a) x[0] = x[1] = seed + threadIdx.x;
  for (auto& x : b) x = seed;
  for (auto& x : c)
    for (auto& y : x) y = seed;
  for (auto& x : d) x = seed;
  for (auto& x : f) x = fseed;
  long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < repeats; ++i) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (kDmma) mma16(c[u], a, b);
#pragma unroll
      for (int k = 0; k < kFfma; ++k)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f[(u * kFfma + k) % 16]) : "f"(fseed), "f"(fseed));
#pragma unroll
      for (int k = 0; k < kDfma; ++k)
        asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(d[(u * kDfma + k) % 8]) : "d"(seed), "d"(seed));
    }
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = clock64() - begin;
  double s = 0;
  for (auto& x : c)
    for (auto& y : x) s += y;
  for (auto& x : d) s += x;
  for (auto& x : f) s += x;
  if (s == 12345.678) out[0] = s;
}
template <class F>
double time_us(F f, int reps) {
  cudaEvent_t b, e;
  cudaEventCreate(&b);
  cudaEventCreate(&e);
  f();
  f();
  std::vector<float> ts;
  for (int r = 0; r < 5; ++r) {
    cudaEventRecord(b);
    for (int i = 0; i < reps; ++i) f();
    cudaEventRecord(e);
    CK(cudaEventSynchronize(e));
    float ms;
    cudaEventElapsedTime(&ms, b, e);
    ts.push_back(ms);
  }
  std::sort(ts.begin(), ts.end());
  return 1e3 * ts[2] / reps;
}
template <int a, int b, int c>
void pipe(const char* name) {
  double* out;
  long long* cyc;
  cudaMalloc(&out, 8);
  cudaMalloc(&cyc, 8);
  const int reps = 20000;
  double us = time_us([&] { pipes<a, b, c><<<132, 256>>>(out, reps, 1e-3, 1e-3f, cyc); }, 4);
  long long h;
  cudaMemcpy(&h, cyc, 8, cudaMemcpyDeviceToHost);
  CK(cudaGetLastError());
  double per = double(h) / reps / 4 / 2;  // one block on each multiprocessor: two warps for each scheduler
  printf("pipes %-28s %7.1f cycles for each group of (dmma %d, ffma %d, dfma %d) a warp; clock %.0f MHz\n",
         name, per, a, b, c, h / us);
}
int n;
std::vector<float> x;
std::vector<double> ct;
std::vector<float> cf;
std::vector<double> W, M, S;
float* drows;
double* dct;
float* dcf;
double* dout;
int chains = 256;
double reference(int c, int rows) {
  double s = 0;
  for (int i = 0; i < rows; ++i) {
    double p = 0;
    for (int k = 0; k < K; ++k) {
      double t = ct[(size_t)c * kTensor + 256 + k];
      for (int f = 0; f < 2 * D; ++f) {
        double v = x[(size_t)(f / 2) * n + i];
        t += ct[(size_t)c * kTensor + ((f / 4 / 2) * 32 + k * 4 + f % 4) * 2 + f / 4 % 2] *
             (f % 2 ? v : v * v);
      }
      p += std::exp2(t);
    }
    s += std::log2(p);
  }
  return s;
}
template <int T, int R, int WW, int kBlocks, int split>
void run(const char* name) {
  constexpr int per_block = split ? split * 16 * T + (WW - split) * 32 * R : WW * (16 * T + 32 * R);
  int blocks = n / per_block;
  if (blocks * per_block > n) --blocks;
  size_t bytes = (T ? CH * kTensor * 8 : 0) + (R ? CH * kFloat * 4 : 0);
  auto k = kernel<T, R, WW, kBlocks, split>;
  CK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  cudaFuncAttributes at;
  cudaFuncGetAttributes(&at, k);
  int occ;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&occ, k, WW * 32, bytes);
  double us =
      time_us([&] { k<<<dim3(blocks, chains / CH), WW * 32, bytes>>>(drows, n, dct, dcf, chains, dout); }, 5);
  CK(cudaDeviceSynchronize());
  CK(cudaGetLastError());
  std::vector<double> h((size_t)chains * blocks);
  cudaMemcpy(h.data(), dout, h.size() * 8, cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int c : {0, 100}) {
    double s = h[(size_t)c * blocks];
    double r = reference(c, per_block);
    worst = std::max(worst, std::abs(s / r - 1));
  }
  printf(
      "%-34s T %d R %d warps %d: %7.3f us an evaluation of 1e6 rows, regs %d, local %d, blocks/SM %d, error "
      "%.1e\n",
      name, T, R, WW, us / chains * 1e6 / ((double)blocks * per_block), at.numRegs, (int)at.localSizeBytes,
      occ, worst);
}
int main(int argc, char** argv) {
  n = argc > 1 ? atoi(argv[1]) : 1000448;
  x.resize((size_t)D * n);
  unsigned s = 1;
  auto u = [&] {
    s = s * 1664525u + 1013904223u;
    return (s >> 8) / 16777216.0;
  };
  for (auto& v : x) v = (float)(2.5 * (u() + u() + u() + u() - 2));
  ct.resize((size_t)chains * kTensor);
  cf.resize((size_t)chains * kFloat);
  for (int c = 0; c < chains; ++c)
    for (int k = 0; k < K; ++k) {
      double shift = 10 - 3 * u(), total = shift;
      for (int j = 0; j < D; ++j) {
        double sd = 0.5 + 0.8 * u(), m = 2.5 * (2 * u() - 1), g = 0.8493218 / sd, h = -m * g;
        float gf = (float)g, hf = (float)h;
        cf[(size_t)c * kFloat + ((k / 4 * D + j) * 4 + k % 4) * 2] = gf;
        cf[(size_t)c * kFloat + ((k / 4 * D + j) * 4 + k % 4) * 2 + 1] = hf;
        auto at = [&](int f) -> double& {
          return ct[(size_t)c * kTensor + ((f / 4 / 2) * 32 + k * 4 + f % 4) * 2 + f / 4 % 2];
        };
        at(2 * j) = -(double)gf * gf;
        at(2 * j + 1) = -2.0 * gf * hf;
        total -= (double)hf * hf;
      }
      ct[(size_t)c * kTensor + 256 + k] = total;
      cf[(size_t)c * kFloat + 2 * D * 8 + k] = (float)shift;
    }
  CK(cudaMalloc(&drows, x.size() * 4));
  CK(cudaMalloc(&dct, ct.size() * 8));
  CK(cudaMalloc(&dcf, cf.size() * 4));
  CK(cudaMalloc(&dout, (size_t)chains * (n / 64 + 1) * 8));
  cudaMemcpy(drows, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dct, ct.data(), ct.size() * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(dcf, cf.data(), cf.size() * 4, cudaMemcpyHostToDevice);
  pipe<1, 0, 0>("dmma");
  pipe<0, 64, 0>("ffma");
  pipe<0, 0, 32>("dfma");
  pipe<1, 16, 0>("dmma+16 ffma");
  pipe<1, 32, 0>("dmma+32 ffma");
  pipe<1, 48, 0>("dmma+48 ffma");
  pipe<1, 0, 8>("dmma+8 dfma");
  pipe<1, 0, 16>("dmma+16 dfma");
  pipe<1, 0, 32>("dmma+32 dfma");
  run<0, 4, 4, 4, 0>("float32 alone");
  run<2, 0, 4, 3, 0>("tensor cores alone");
  run<4, 0, 4, 3, 0>("tensor cores alone");
  run<2, 2, 4, 2, 0>("both in a warp");
  run<4, 2, 4, 2, 0>("both in a warp");
  run<2, 4, 8, 2, 4>("warps of each kind");
  run<2, 4, 8, 2, 5>("warps of each kind");
  run<4, 4, 12, 1, 6>("warps of each kind");
  return 0;
}

// Computes posterior means of label-free quantities by parallel tempering, without any code of emomc.
//
//   g++ -std=c++20 -O3 -march=native -ffast-math reference.cpp -o reference
//   ./reference multimodal_00.csv COMPONENTS [SWEEPS] > line of JSON
//
// The model is a mixture of Gaussians with diagonal covariances on columns with mean 0 and (population) sd 1;
// weights Dirichlet(1), means normal(0, 10), scales half-normal(1) above 0.001. There are 16 independent runs
// with 16 temperatures (powers of the likelihood from 1 to 0.01). Random walks update one coordinate at a
// time (log ratios of weights to the last one, means, log scales); their lengths are adapted in the first
// fifth, which is dropped. After each sweep neighbouring temperatures are exchanged. Standard errors come
// from the spread of the 16 runs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using Vector = std::vector<double>;
int K, d, N;
Vector x;  // d x N

struct State {
  Vector u;          // K - 1 log ratios, K d means, K d log scales
  Vector component;  // K x N: log densities without weights
  Vector weights;    // log
  double ll = 0, lp = 0;
};

void log_weights(State& s) {
  double sum = 1;
  for (int k = 0; k < K - 1; ++k) sum += std::exp(s.u[k]);
  for (int k = 0; k < K; ++k) s.weights[k] = (k < K - 1 ? s.u[k] : 0.0) - std::log(sum);
}
void densities(State& s, int k) {
  double* out = s.component.data() + k * N;
  std::fill(out, out + N, 0.0);
  for (int j = 0; j < d; ++j) {
    const double m = s.u[K - 1 + k * d + j], l = s.u[K - 1 + K * d + k * d + j], g = std::exp(-l);
    for (int i = 0; i < N; ++i) {
      const double z = (x[j * N + i] - m) * g;
      out[i] -= 0.5 * z * z + l + 0.918938533204672742;
    }
  }
}
void totals(State& s) {
  static Vector sum;
  sum.assign(N, 0.0);
  // The densities of some component are far above exp(-700) in most rows, but not in tails, so that the
  // largest term is factored out.
  double ll = 0;
  for (int i = 0; i < N; ++i) {
    double top = -1e300;
    for (int k = 0; k < K; ++k) top = std::max(top, s.weights[k] + s.component[k * N + i]);
    double t = 0;
    for (int k = 0; k < K; ++k) t += std::exp(s.weights[k] + s.component[k * N + i] - top);
    ll += top + std::log(t);
  }
  s.ll = ll;
  s.lp = 0;
  for (int k = 0; k < K; ++k) s.lp += s.weights[k];
  for (int i = 0; i < K * d; ++i) {
    const double m = s.u[K - 1 + i], l = s.u[K - 1 + K * d + i], scale = std::exp(l);
    s.lp += -0.5 * m * m / 100 - 0.5 * scale * scale + l;
    if (scale < 0.001) s.lp = -1e300;
  }
}

int main(int argc, char** argv) {
  std::ifstream file(argv[1]);
  K = std::atoi(argv[2]);
  const int sweeps = argc > 3 ? std::atoi(argv[3]) : 12000;
  std::string line;
  std::getline(file, line);
  d = 1 + static_cast<int>(std::count(line.begin(), line.end(), ','));
  Vector rows;
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    std::string cell;
    while (std::getline(cells, cell, ',')) rows.push_back(std::stod(cell));
  }
  N = static_cast<int>(rows.size()) / d;
  x.resize(rows.size());
  Vector sd(d), mean(d);
  double offset = 0;
  for (int j = 0; j < d; ++j) {
    for (int i = 0; i < N; ++i) mean[j] += rows[i * d + j] / N;
    for (int i = 0; i < N; ++i) sd[j] += std::pow(rows[i * d + j] - mean[j], 2) / N;
    sd[j] = std::sqrt(sd[j]);
    offset -= N * std::log(sd[j]);
    for (int i = 0; i < N; ++i) x[j * N + i] = (rows[i * d + j] - mean[j]) / sd[j];
  }
  const int P = K - 1 + 2 * K * d, T = 16, kRuns = 16, Q = 1 + K + 2 * d;
  std::vector<Vector> means(kRuns, Vector(Q, 0.0));
  for (int run = 0; run < kRuns; ++run) {
    std::mt19937_64 rng(1000 + run);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<State> chain(T);
    std::vector<Vector> length(T, Vector(P, 0.3));
    Vector beta(T);
    for (int t = 0; t < T; ++t) {
      beta[t] = std::pow(0.01, static_cast<double>(t) / (T - 1));
      State& s = chain[t];
      s.u.resize(P);
      for (double& v : s.u) v = 0.5 * normal(rng);
      s.component.resize(K * N);
      s.weights.resize(K);
      log_weights(s);
      for (int k = 0; k < K; ++k) densities(s, k);
      totals(s);
    }
    long count = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const bool adapting = sweep < sweeps / 5;
      for (int t = 0; t < T; ++t)
        for (int p = 0; p < P; ++p) {
          State next = chain[t];
          next.u[p] += length[t][p] * normal(rng);
          if (p < K - 1)
            log_weights(next);
          else
            densities(next, ((p - (K - 1)) % (K * d)) / d);
          totals(next);
          const double ratio = beta[t] * (next.ll - chain[t].ll) + next.lp - chain[t].lp;
          const bool accept = std::log(uniform(rng)) < ratio;
          if (accept) chain[t] = std::move(next);
          if (adapting) length[t][p] *= std::exp((accept ? 0.56 : -0.44) * 2 / std::sqrt(sweep + 4.0));
        }
      for (int t = sweep % 2; t + 1 < T; t += 2)
        if (std::log(uniform(rng)) < (beta[t] - beta[t + 1]) * (chain[t + 1].ll - chain[t].ll))
          std::swap(chain[t], chain[t + 1]);
      if (adapting) continue;
      ++count;
      const State& s = chain[0];
      Vector w;
      for (double l : s.weights) w.push_back(std::exp(l));
      Vector& m = means[run];
      m[0] += s.ll + offset;
      for (int j = 0; j < d; ++j) {
        double first = 0, second = 0;
        for (int k = 0; k < K; ++k) {
          const double mu = s.u[K - 1 + k * d + j], scale = std::exp(s.u[K - 1 + K * d + k * d + j]);
          first += w[k] * mu;
          second += w[k] * (mu * mu + scale * scale);
        }
        m[1 + K + j] += mean[j] + sd[j] * first;
        m[1 + K + d + j] += sd[j] * std::sqrt(second - first * first);
      }
      std::sort(w.rbegin(), w.rend());
      for (int k = 0; k < K; ++k) m[1 + k] += w[k];
    }
    for (double& m : means[run]) m /= static_cast<double>(count);
  }
  const auto print = [&](const std::string& name, int q, bool last) {
    double m = 0, v = 0;
    for (const auto& run : means) m += run[q] / kRuns;
    for (const auto& run : means) v += std::pow(run[q] - m, 2) / (kRuns * (kRuns - 1.0));
    std::printf("\"%s\": {\"mean\": %.8g, \"mcse\": %.2g}%s", name.c_str(), m, std::sqrt(v),
                last ? "}\n" : ", ");
  };
  std::printf("{");
  print("log_likelihood", 0, false);
  for (int k = 0; k < K; ++k) print("sorted_weights[" + std::to_string(k) + "]", 1 + k, false);
  for (int j = 0; j < d; ++j) print("mixture_mean[" + std::to_string(j) + "]", 1 + K + j, false);
  for (int j = 0; j < d; ++j) print("mixture_sd[" + std::to_string(j) + "]", 1 + K + d + j, j == d - 1);
}

"""Log densities of priors with covariances and sampled arguments by scipy.stats; writes hierarchical.json next to this
file. The LKJ density comes from the distribution of partial correlations (Lewandowski, Kurowicka and Joe 2009), with
the Jacobian by finite differences, and not from the closed form that the program uses.

Usage: python3 make_hierarchical.py   (numpy, scipy)
"""
import json
import pathlib

import numpy as np
from scipy import stats

FLOOR = 0.05
rng = np.random.default_rng(3)


def factor(z):
    """Returns the Cholesky factor of the correlation matrix with partial correlations z (strictly lower triangle)."""
    d = len(z)
    L = np.zeros((d, d))
    for i in range(d):
        rest = 1.0
        for j in range(i):
            L[i, j] = z[i, j] * np.sqrt(rest)
            rest -= L[i, j] ** 2
        L[i, i] = np.sqrt(rest)
    return L


def partial_correlations(R):
    L, z = np.linalg.cholesky(R), np.zeros_like(R)
    for i in range(len(R)):
        for j in range(i):
            z[i, j] = L[i, j] / np.sqrt(1 - np.sum(L[i, :j] ** 2))
    return z


def log_lkj(R, eta):
    d, z = len(R), partial_correlations(R)
    lower = np.tril_indices(d, -1)
    if d == 1:
        return 0.0

    def correlations(values):
        full = np.zeros((d, d))
        full[lower] = values
        L = factor(full)
        return (L @ L.T)[lower]

    values, h = z[lower], 1e-5
    jacobian = np.array([(correlations(values + h * e) - correlations(values - h * e)) / (2 * h)
                         for e in np.eye(len(values))]).T
    total = -np.log(abs(np.linalg.det(jacobian)))
    for i, j in zip(*lower):
        b = eta + (d - 2 - j) / 2
        total += stats.beta(b, b).logpdf((1 + z[i, j]) / 2) - np.log(2)
    return total


def truncated(distribution, x):
    return np.sum(distribution.logpdf(x) - distribution.logsf(FLOOR))


def random_covariances(count, d):
    A = rng.normal(size=(count, d, d + 2))
    return (A @ A.transpose(0, 2, 1) / d).round(3)


def scales_and_correlations(S):
    s = np.sqrt(np.diagonal(S, axis1=1, axis2=2))
    return s, S / s[:, :, None] / s[:, None, :]


cases = []
for K, d, eta in [(2, 3, 2.5), (3, 2, 0.7), (1, 4, 1.0)]:
    weights = rng.dirichlet(np.full(K, 3.0))
    means, S = rng.normal(size=(K, d)).round(3), random_covariances(K, d)
    s, R = scales_and_correlations(S)
    mean, sd = rng.normal(size=d).round(3), rng.uniform(0.3, 2, d).round(3)
    meanlog = rng.normal(0, 0.5, d).round(3)
    density = (stats.dirichlet(np.full(K, 2.0)).logpdf(weights) if K > 1 else 0.0)
    density += stats.norm(mean, sd).logpdf(means).sum() + stats.norm(0.3, 2).logpdf(mean).sum()
    density += stats.halfnorm(0, 1.5).logpdf(sd).sum()
    density += truncated(stats.lognorm(0.7, scale=np.exp(meanlog)), s) + stats.norm(-0.2, 1).logpdf(meanlog).sum()
    density += sum(log_lkj(r, eta) for r in R)
    cases.append({"kind": "full", "eta": eta, "log_density": float(density), "parameters": {
        "weights": weights.tolist(), "means": means.tolist(), "covariances": S.tolist(),
        "means.mean": mean.tolist(), "means.sd": sd.tolist(), "scales.meanlog": meanlog.tolist()}})
for K, d, eta in [(2, 3, 4.0), (2, 1, 1.0)]:
    weights = rng.dirichlet(np.full(K, 3.0))
    means, S = rng.normal(size=(K, d)).round(3), random_covariances(1, d)
    s, R = scales_and_correlations(S)
    mean, scale, sd = rng.normal(size=d).round(3), rng.uniform(0.3, 2, d).round(3), rng.uniform(0.5, 2, d).round(3)
    density = stats.dirichlet(np.full(K, 2.0)).logpdf(weights)
    density += stats.t(4, mean, scale).logpdf(means).sum() + stats.norm(0.3, 2).logpdf(mean).sum()
    density += stats.lognorm(1).logpdf(scale).sum()
    density += truncated(stats.halfnorm(0, sd), s) + stats.expon(scale=0.5).logpdf(sd).sum()
    density += sum(log_lkj(r, eta) for r in R)
    cases.append({"kind": "tied", "eta": eta, "log_density": float(density), "parameters": {
        "weights": weights.tolist(), "means": means.tolist(), "covariance": S[0].tolist(),
        "means.mean": mean.tolist(), "means.scale": scale.tolist(), "scales.sd": sd.tolist()}})
path = pathlib.Path(__file__).with_name("hierarchical.json")
path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")

#!/usr/bin/env python3
"""Solves stacking problems with SciPy, for stacking_test.cpp.

    python make_stacking.py stacking.json      # SciPy 1.17.1

The solver is SLSQP from equal weights, as in ArviZ's compare(method="stacking"), followed by Newton's method on the
weights that are not zero, until the conditions of a maximum hold to 1e-11. Log densities have three decimals.
"""
import json
import sys

import numpy as np
from scipy.optimize import minimize


def solve(elpd, concentration):
    num_points, num_models = elpd.shape
    densities = np.exp(elpd - elpd.max(axis=1, keepdims=True))
    extra = concentration - 1

    def loss(w):
        value = -np.log(densities @ w).sum()
        return value - (extra * np.log(w).sum() if extra > 0 else 0.0)

    def gradient(w):
        value = -(densities / (densities @ w)[:, None]).sum(axis=0)
        return value - (extra / w if extra > 0 else 0.0)

    least = 1e-12 if extra > 0 else 0.0
    w = minimize(loss, np.full(num_models, 1 / num_models), jac=gradient, method="SLSQP",
                 bounds=[(least, 1)] * num_models, constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
                 options={"maxiter": 10_000, "ftol": 1e-15}).x
    active = np.ones(num_models, bool) if extra > 0 else w > 1e-7
    w = np.where(active, np.maximum(w, least), 0)
    w /= w.sum()
    total = num_points + extra * num_models
    for _ in range(200):
        share = densities / (densities @ w)[:, None]
        slope = share.sum(axis=0) + (extra / w if extra > 0 else 0) - total
        if np.abs(slope[active]).max() < 1e-11 * total:
            break
        curvature = share.T @ share + (np.diag(extra / w**2) if extra > 0 else 0)
        index = np.flatnonzero(active)
        step = np.linalg.solve(curvature[np.ix_(index, index)], slope[index])
        length = 1.0
        while (w[index] + length * step <= 0).any():
            length /= 2
        w[index] += length * step
    assert abs(w.sum() - 1) < 1e-10 and slope.max() < 1e-7, (w, slope)
    w /= w.sum()
    return w, float(np.log(densities @ w).sum() + elpd.max(axis=1).sum())


def main():
    random = np.random.default_rng(36)
    problems = []

    def add(name, elpd, concentration=1.0):
        elpd = np.round(elpd, 3)
        weights, score = solve(elpd, concentration)
        problems.append({"name": name, "concentration": concentration, "elpd": elpd.ravel().tolist(),
                         "weights": weights.tolist(), "score": score})

    # There are rows of two kinds, and models that predict one of them.
    kind = random.random(80) < 0.3
    modes = np.where(kind[:, None], [-1.0, -4.0, -2.5], [-3.0, -1.2, -2.6])
    add("chains in two modes and one between", modes + 0.3 * random.normal(size=(80, 3)))
    add("one model that is best", random.normal(-2, 0.5, size=(40, 4)) + [0, 0, 3, 0])
    add("many models", random.normal(-3, 1, size=(60, 9)))
    add("sharp densities", 8 * random.normal(size=(30, 5)) - 20)
    add("few points", random.normal(-1, 1, size=(3, 2)))
    add("with the prior", random.normal(-3, 0.7, size=(50, 6)), 1.001)
    add("with a strong prior", random.normal(-3, 2, size=(25, 4)), 3.0)
    with open(sys.argv[1], "w") as out:
        json.dump({"program": "SciPy 1.17.1, SLSQP and Newton's method", "problems": problems}, out)
        out.write("\n")


if __name__ == "__main__":
    main()

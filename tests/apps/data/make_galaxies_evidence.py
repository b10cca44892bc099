#!/usr/bin/env python3
"""Computes the evidence of mixtures of the galaxy velocities by nested sampling (dynesty): galaxies_evidence.json, for
galaxies_evidence_test.cpp and docs/tempering.md. The seed is the number of components.

    pip install dynesty==3.1.0 numpy scipy
    python make_galaxies_evidence.py configs/galaxies.csv galaxies_evidence.json WALKS [K...]

WALKS is the number of steps to a new point, 0 for dynesty's default. With the default, values of four and more components
scatter by more than their errors; the committed file records this number.

The priors are those of configs/galaxies.yaml with dirichlet 1, including the scale floor. Means are order statistics of
the prior, because priors are exchangeable: the evidence is that of unordered components, and K! modes become one.
"""
import json
import sys
from math import erf, sqrt

import dynesty
import numpy as np
from scipy.special import ndtri

FLOOR = 0.001  # share of the column's sd


def evidence(rows, components, seed, walks):
    floor = FLOOR * rows.std(ddof=0)
    below = erf(floor / sqrt(2))

    def transform(u):
        weights = -np.log(u[:components])
        weights /= weights.sum()
        place, means = 1.0, np.empty(components)
        for k in range(components, 0, -1):
            place *= u[components + k - 1] ** (1 / k)
            means[k - 1] = place
        means = 20 + 10 * ndtri(means)
        share = below + (1 - below) * u[2 * components :]
        return np.concatenate([weights, means, ndtri(0.5 + 0.5 * share)])

    def log_likelihood(theta):
        weights, means, scales = theta.reshape(3, components)
        terms = np.log(weights) - np.log(scales) - 0.5 * ((rows[:, None] - means) / scales) ** 2
        top = terms.max(axis=1)
        sums = np.exp(terms - top[:, None]).sum(axis=1)
        return float(np.log(sums).sum() + top.sum() - 0.5 * len(rows) * np.log(2 * np.pi))

    sampler = dynesty.NestedSampler(log_likelihood, transform, 3 * components, nlive=1000, sample="rwalk", walks=walks or None,
                                    rstate=np.random.default_rng(seed))
    sampler.run_nested(print_progress=False, dlogz=0.01)
    result = sampler.results
    return float(result.logz[-1]), float(result.logzerr[-1]), int(np.sum(result.ncall))


def main():
    rows = np.genfromtxt(sys.argv[1], delimiter=",", skip_header=1)
    found = []
    walks = int(sys.argv[3])
    for components in [int(k) for k in sys.argv[4:]] or range(2, 7):
        value, error, calls = evidence(rows, components, components, walks)
        found.append({"components": components, "walks": walks, "log_evidence": value, "standard_error": error,
                      "evaluations": calls})
        print(found[-1], flush=True)
    with open(sys.argv[2], "w") as out:
        json.dump({"program": f"dynesty {dynesty.__version__}, 1000 live points, rwalk", "models": found}, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()

"""Computes probabilities of components by SciPy, for component_probabilities_test.cpp.

  python3 make_component_probabilities.py > component_probabilities.json

Needs numpy and scipy. Parameters have the form of parameter files: covariances, not their factors.
"""
import json

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, multivariate_t, norm

rng = np.random.default_rng(20261126)
K, d, N = 3, 2, 12
weights = np.array([0.2, 0.5, 0.3])
means = np.array([[-1.0, 0.5], [0.75, -0.25], [2.0, 1.5]])
scales = np.array([[0.5, 1.25], [1.0, 0.75], [2.0, 0.25]])
radii = np.array([0.5, 1.5, 1.0])
covariances = np.array([[[0.5, 0.2], [0.2, 1.0]], [[1.0, -0.6], [-0.6, 0.8]], [[2.0, 0.0], [0.0, 0.1]]])
freedom = np.array([1.5, 4.0, 60.0])
rows = np.round(np.vstack([rng.normal(size=(N - 2, d)) * 2, [[0.75, -0.25], [25.0, -30.0]]]), 4)


def probabilities(log_density):
    """Returns probabilities [rows x components] from log_density(row, component)."""
    terms = np.array([[np.log(weights[k]) + log_density(x, k) for k in range(K)] for x in rows])
    return np.exp(terms - logsumexp(terms, axis=1, keepdims=True)).tolist()


def case(name, covariance, theta, log_density):
    return {"model": name, "covariance": covariance, "components": K, "theta": np.concatenate(theta).tolist(),
            "rows": rows.tolist(), "probabilities": probabilities(log_density)}


def triangle(matrix):
    return matrix[np.tril_indices(d)]


gaussian = lambda x, k, c: multivariate_normal.logpdf(x, means[k], c)
cases = [
    case("gaussian_mixture", "diagonal", [weights, means.ravel(), scales.ravel()],
         lambda x, k: gaussian(x, k, np.diag(scales[k] ** 2))),
    case("gaussian_mixture", "spherical", [weights, means.ravel(), radii],
         lambda x, k: gaussian(x, k, np.eye(d) * radii[k] ** 2)),
    case("gaussian_mixture", "tied", [weights, means.ravel(), triangle(covariances[1])],
         lambda x, k: gaussian(x, k, covariances[1])),
    case("gaussian_mixture", "full", [weights, means.ravel(), *[triangle(c) for c in covariances]],
         lambda x, k: gaussian(x, k, covariances[k])),
    case("student_t_mixture", "diagonal", [weights, means.ravel(), scales.ravel(), freedom],
         lambda x, k: multivariate_t.logpdf(x, means[k], np.diag(scales[k] ** 2), freedom[k])),
]
points = np.array([-3.0, -0.5, 0.2, 0.3, 4.0])
terms = np.log([0.3, 0.7]) + np.array([norm.logpdf(points, 0.25, s) for s in (0.5, 3.0)]).T
cases.append({"model": "two_gaussian", "covariance": "diagonal", "components": 2, "theta": [0.3, 0.25, 0.5, 3.0],
              "rows": points[:, None].tolist(),
              "probabilities": np.exp(terms - logsumexp(terms, axis=1, keepdims=True)).tolist()})
print(json.dumps(cases, indent=1))

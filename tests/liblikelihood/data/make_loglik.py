"""Computes log likelihoods of Gaussian mixtures of all four covariance types by scikit-learn. Writes loglik.json, which
loglik_outside_test reads. Run make_loglik.R afterwards, which adds R's values.

Needs numpy and scikit-learn. Data and parameters are rounded to 4 digits so that the file stays small.
"""
import json
import os

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20260101)
cases = []
shapes = [(7, 1, 1), (50, 3, 2), (1000, 10, 5), (120, 13, 8), (40, 64, 3), (33, 2, 17)]
spherical = [(90, 4, 3), (200, 13, 8)]
for i, (n, d, k) in enumerate(shapes + spherical):
    covariance = "diag" if i < len(shapes) else "spherical"
    weights = rng.dirichlet(np.full(k, 2.0)).round(4)
    weights[0] += 1 - weights.sum()
    weights = weights.round(4)
    centre = rng.normal(0, 20, d)
    means = (centre + rng.normal(0, 3, (k, d))).round(4)
    scales = rng.uniform(0.2, 4, (k, d) if covariance == "diag" else (k, 1)).round(4)
    z = rng.choice(k, n, p=weights / weights.sum())
    x = (means[z] + scales[z] * rng.normal(size=(n, d))).round(4)
    mixture = GaussianMixture(k, covariance_type=covariance)
    if covariance == "spherical":
        scales = scales[:, 0]
    mixture.weights_, mixture.means_, mixture.covariances_ = weights, means, scales**2
    mixture.precisions_cholesky_ = 1 / scales
    rows = mixture.score_samples(x)
    cases.append(
        {
            "rows": x.tolist(),
            "parameters": {"weights": weights.tolist(), "means": means.tolist(), "scales": scales.tolist()},
            "scikit_learn": {"log_likelihood": float(np.sum(rows)), "first_rows": rows[:5].tolist()},
        }
    )
for covariance, n, d, k in [("full", 60, 2, 3), ("full", 150, 13, 5), ("tied", 80, 4, 3), ("tied", 150, 13, 9)]:
    weights = rng.dirichlet(np.full(k, 2.0)).round(4)
    weights[0] += 1 - weights.sum()
    weights = weights.round(4)
    means = (rng.normal(0, 20, d) + rng.normal(0, 3, (k, d))).round(4)
    factors = rng.normal(size=(k if covariance == "full" else 1, d, d + 2)) * rng.uniform(0.3, 2, (d, 1))
    covariances = (factors @ factors.transpose(0, 2, 1) / d).round(4)
    z = rng.choice(k, n, p=weights / weights.sum())
    noise = np.linalg.cholesky(covariances)[z if covariance == "full" else 0 * z] @ rng.normal(size=(n, d, 1))
    x = (means[z] + noise[:, :, 0]).round(4)
    mixture = GaussianMixture(k, covariance_type=covariance)
    mixture.weights_, mixture.means_ = weights, means
    name, covariances = ("covariances", covariances) if covariance == "full" else ("covariance", covariances[0])
    mixture.covariances_ = covariances
    mixture.precisions_cholesky_ = _compute_precision_cholesky(covariances, covariance)
    rows = mixture.score_samples(x)
    cases.append(
        {
            "rows": x.tolist(),
            "parameters": {"weights": weights.tolist(), "means": means.tolist(), name: covariances.tolist()},
            "scikit_learn": {"log_likelihood": float(np.sum(rows)), "first_rows": rows[:5].tolist()},
        }
    )
with open(os.path.join(here, "loglik.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))

"""Runs EM by scikit-learn from given starts, for all four covariance types. Writes fit.json, which mixture_fit_test reads.

Needs numpy and scikit-learn. The test compares two rounds of scikit-learn with two rounds of emomc, and the converged
fits.
"""
import json
import os
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20261121)
cases = []
for covariance, n, d, k in [("diag", 300, 3, 3), ("spherical", 200, 2, 3), ("tied", 250, 3, 4), ("full", 400, 3, 3),
                            ("full", 150, 1, 2), ("tied", 1500, 5, 2), ("diag", 1500, 13, 8)]:
    centres = rng.normal(0, 3, (k, d))
    mixing = rng.normal(size=(k, d, d)) * 0.7
    z = rng.integers(k, size=n)
    x = (centres[z] + np.einsum("nij,nj->ni", mixing[z], rng.normal(size=(n, d)))
         + 0.5 * rng.normal(size=(n, d))).round(4)
    means = (centres + rng.normal(0, 0.5, (k, d))).round(4)
    weights = np.full(k, 1 / k)
    start = {"weights": weights.tolist(), "means": means.tolist()}
    if covariance == "diag":
        start["scales"] = np.full((k, d), 1.5).tolist()
        precisions = np.full((k, d), 1 / 1.5**2)
    elif covariance == "spherical":
        start["scales"] = np.full(k, 1.5).tolist()
        precisions = np.full(k, 1 / 1.5**2)
    elif covariance == "tied":
        start["covariance"] = (1.5**2 * np.eye(d)).tolist()
        precisions = np.eye(d) / 1.5**2
    else:
        start["covariances"] = np.broadcast_to(1.5**2 * np.eye(d), (k, d, d)).tolist()
        precisions = np.broadcast_to(np.eye(d) / 1.5**2, (k, d, d)).copy()

    def fitted(rounds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mixture = GaussianMixture(k, covariance_type=covariance, reg_covar=0, tol=1e-13 if rounds > 9 else 0,
                                      max_iter=rounds, weights_init=weights, means_init=means,
                                      precisions_init=precisions)
            return float(mixture.fit(x).score_samples(x).sum())

    cases.append({"rows": x.tolist(), "start": start, "two_rounds": fitted(2), "converged": fitted(20000)})
with open(os.path.join(here, "fit.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))

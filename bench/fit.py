"""Measures EM: seconds per round of `emomc fit` and of scikit-learn's GaussianMixture from the same start, in the same
run.

  python3 bench/fit.py [--emomc PATH] [--rows 10000 100000] [--covariance diag full] [--backends cpu cuda]

Rows are drawn from a mixture of 8 components in 13 columns. Both programs take the same number of rounds, in turn, and
the least of three times counts. The script prints a line for each case and writes all of them with --json FILE. It
needs numpy and scikit-learn.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

KINDS = {"diag": "diagonal", "spherical": "spherical", "tied": "tied", "full": "full"}
parser = argparse.ArgumentParser()
parser.add_argument("--emomc", default="build/release/bin/emomc")
parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
parser.add_argument("--covariance", nargs="+", default=["diag", "full"], choices=list(KINDS))
parser.add_argument("--backends", nargs="+", default=["cpu"])
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--json")
arguments = parser.parse_args()
K, d = 8, 13


def by_emomc(folder, backend):
    command = [arguments.emomc, "fit", f"{folder}/config.yaml", "--start", f"{folder}/start.json", "--max-rounds",
               str(arguments.rounds), "--tolerance", "1e-300", "--json", "-q", "--set", f"backend={backend}"]
    out = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return out["seconds_per_round"], out["log_likelihood"]


def by_sklearn(x, covariance, start, precisions):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mixture = GaussianMixture(K, covariance_type=covariance, reg_covar=0, tol=0, max_iter=arguments.rounds,
                                  weights_init=start["weights"], means_init=np.array(start["means"]),
                                  precisions_init=precisions)
        began = time.perf_counter()
        mixture.fit(x)
        seconds = time.perf_counter() - began
    return seconds / arguments.rounds, float(mixture.score_samples(x).sum())


results = []
for rows in arguments.rows:
    rng = np.random.default_rng(rows)
    centres = rng.normal(0, 2, (K, d))
    x = centres[rng.integers(K, size=rows)] + rng.normal(size=(rows, d))
    means = (centres + rng.normal(0, 0.3, (K, d))).tolist()
    for covariance in arguments.covariance:
        shape = {"diag": (K, d), "spherical": (K,), "tied": (d, d), "full": (K, d, d)}[covariance]
        unit = np.broadcast_to(np.eye(d) if covariance in ("tied", "full") else 1.0, shape).copy()
        name = {"tied": "covariance", "full": "covariances"}.get(covariance, "scales")
        start = {"weights": [1 / K] * K, "means": means, name: unit.tolist()}
        with tempfile.TemporaryDirectory() as folder:
            np.save(os.path.join(folder, "x.npy"), x)
            with open(os.path.join(folder, "start.json"), "w") as file:
                json.dump(start, file)
            with open(os.path.join(folder, "config.yaml"), "w") as file:
                file.write(f"data: {{file: {folder}/x.npy, standardize: false}}\n"
                           f"likelihood: {{components: {K}, covariance: {KINDS[covariance]}}}\n"
                           "prior: {scale_floor: 0}\n")
            best = {}
            for _ in range(3):
                for method in ["scikit-learn"] + arguments.backends:
                    seconds, value = (by_sklearn(x, covariance, start, unit) if method == "scikit-learn"
                                      else by_emomc(folder, method))
                    if method not in best or seconds < best[method][0]:
                        best[method] = (seconds, value)
        for method, (seconds, value) in best.items():
            peer, peer_value = best["scikit-learn"]
            results.append({"rows": rows, "covariance": covariance, "method": method, "seconds_per_round": seconds,
                            "times_faster": peer / seconds,
                            "log_likelihood_difference": abs(value / peer_value - 1)})
            print(f"{rows:9} {covariance:9} {method:12} {1e3 * seconds:10.3f} ms a round  {peer / seconds:7.1f} x  "
                  f"log likelihood within {abs(value / peer_value - 1):.1e}")
if arguments.json:
    with open(arguments.json, "w") as file:
        json.dump(results, file, indent=1)

"""Computes log densities of the prior families by scipy.stats and writes priors.json next to this file.

Usage: python3 make_priors.py   (numpy, scipy)
"""
import json
import pathlib

import numpy as np
from scipy import stats

inf = np.inf
# family, arguments, lower bound of the support, distribution before truncation
CASES = [
    ("normal", [1, 2], -inf, stats.norm(1, 2)),
    ("normal", [1, 0.7], 0.4, stats.norm(1, 0.7)),
    ("normal", [-3, 0.7], 0.4, stats.norm(-3, 0.7)),
    ("cauchy", [1, 2], -inf, stats.cauchy(1, 2)),
    ("cauchy", [0, 1], 0.4, stats.cauchy(0, 1)),
    ("half_normal", [2], 0.0, stats.halfnorm(0, 2)),
    ("half_normal", [2], 0.001, stats.halfnorm(0, 2)),
    ("lognormal", [-0.5, 1], 0.0, stats.lognorm(1, scale=np.exp(-0.5))),
    ("lognormal", [-0.5, 1], 0.4, stats.lognorm(1, scale=np.exp(-0.5))),
    ("exponential", [2], 0.0, stats.expon(scale=1 / 2)),
    ("exponential", [2], 0.4, stats.expon(scale=1 / 2)),
    ("student_t", [4, 1, 2], -inf, stats.t(4, 1, 2)),
    ("student_t", [4, 1, 2], 0.4, stats.t(4, 1, 2)),
    ("student_t", [1.5, -3, 0.5], 0.4, stats.t(1.5, -3, 0.5)),
    ("gamma", [2.5, 3], 0.0, stats.gamma(2.5, scale=1 / 3)),
    ("gamma", [0.5, 3], 0.4, stats.gamma(0.5, scale=1 / 3)),
    ("gamma", [1, 3], 0.0, stats.gamma(1, scale=1 / 3)),
    ("inverse_gamma", [2.5, 3], 0.0, stats.invgamma(2.5, scale=3)),
    ("inverse_gamma", [0.5, 0.1], 0.4, stats.invgamma(0.5, scale=0.1)),
    ("uniform", [-1, 3], -inf, stats.uniform(-1, 4)),
    ("uniform", [0.1, 3], 0.4, stats.uniform(0.1, 2.9)),
    ("beta", [2, 3], "unit", stats.beta(2, 3)),
    ("beta", [0.5, 0.5], "unit", stats.beta(0.5, 0.5)),
]
rows = []
for family, arguments, lower, distribution in CASES:
    points = [0.02, 0.3, 0.9] if lower == "unit" else [0.45, 0.9, 2.5]
    mass = 0.0 if lower in ("unit", -inf) else distribution.logsf(lower)
    for x in points:
        rows.append({"family": family, "arguments": arguments,
                     "support": {"unit": "unit_interval", -inf: "real"}.get(lower, "positive"),
                     "floor": lower if isinstance(lower, float) and np.isfinite(lower) else 0,
                     "x": x, "log_density": float(distribution.logpdf(x) - mass)})
path = pathlib.Path(__file__).with_name("priors.json")
path.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")

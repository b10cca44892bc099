"""Leave-one-group-out by ArviZ, for cross_validation_test.cpp: the log likelihoods of loo_example.json, of which
those of observations i with equal i % 7 are added up.

  python3 make_loo_groups.py loo_example.json > loo_groups.json

Needs numpy and ArviZ (0.23).
"""
import json
import sys

import arviz
import numpy as np

draws = np.array(json.load(open(sys.argv[1]))["log_likelihood"])  # draws x observations
groups = np.arange(draws.shape[1]) % 7
sums = np.stack([draws[:, groups == g].sum(axis=1) for g in range(7)], axis=1)
data = arviz.from_dict(posterior={"x": np.zeros((1, len(draws)))}, log_likelihood={"y": sums[None]})
loo = arviz.loo(data, pointwise=True, reff=1.0)
print(json.dumps({"program": "ArviZ " + arviz.__version__, "groups": groups.tolist(), "elpd_loo": float(loo.elpd_loo),
                  "p_loo": float(loo.p_loo),
                  "elpd_loo_pointwise": loo.loo_i.values.tolist(), "pareto_k": loo.pareto_k.values.tolist()}, indent=1))

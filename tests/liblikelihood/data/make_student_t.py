"""Log likelihoods of mixtures of Student's t by SciPy, for student_t_mixture_test.cpp: python3 make_student_t.py > student_t.json

Needs numpy and scipy (made with scipy.__version__ as in the file)."""
import json
import sys

import numpy as np
import scipy
from scipy.special import logsumexp
from scipy.stats import multivariate_t

random = np.random.default_rng(20261125)
cases = []
for K, d, rows, freedoms in [(1, 1, 40, (0.7, 0.7)), (2, 1, 60, (1, 4)), (3, 2, 60, (2, 30)), (5, 4, 50, (1, 200)),
                             (4, 13, 30, (3, 3)), (9, 3, 60, (0.5, 1e6))]:
    weights = random.dirichlet(np.full(K, 3.0))
    means = random.normal(0, 2, (K, d))
    scales = random.uniform(0.3, 1.5, (K, d))
    freedom = np.exp(random.uniform(np.log(freedoms[0]), np.log(freedoms[1]), K))
    of_row = random.choice(K, rows, p=weights)
    x = means[of_row] + scales[of_row] * random.standard_t(np.maximum(freedom[of_row], 2))[:, None] * random.normal(size=(rows, d))
    terms = np.array([np.log(weights[k]) + multivariate_t.logpdf(x, means[k], np.diag(scales[k] ** 2), freedom[k]).reshape(-1)
                      for k in range(K)])
    log_density = logsumexp(terms, axis=0)
    cases.append({"components": K, "rows": x.tolist(),
                  "parameters": {"weights": weights.tolist(), "means": means.tolist(), "scales": scales.tolist(),
                                 "degrees_of_freedom": freedom.tolist()},
                  "log_densities": log_density.tolist(), "log_likelihood": float(np.sum(log_density))})
json.dump({"scipy": scipy.__version__, "cases": cases}, sys.stdout)

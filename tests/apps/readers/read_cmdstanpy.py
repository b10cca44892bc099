"""Reads FOLDER/draws-*.csv with cmdstanpy and prints the result as JSON. Exits with 77 if cmdstanpy is missing."""
import glob
import json
import sys

try:
    import cmdstanpy
except ImportError:
    sys.exit(77)
fit = cmdstanpy.from_csv(sorted(glob.glob(sys.argv[1] + "/draws-*.csv")), method="sample")
means = fit.stan_variable("means")
print(json.dumps({"chains": fit.chains, "draws": fit.num_draws_sampling, "means": list(means.shape),
                  "mean": float(means[:, 1, 0].mean())}))

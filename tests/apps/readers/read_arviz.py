"""Opens FOLDER/draws.nc with xarray alone and with ArviZ, and prints ArviZ's summary as JSON. Exits with 77 if a
package is missing."""
import json
import sys
import warnings

warnings.simplefilter("ignore")
try:
    import arviz
    import xarray
except ImportError:
    sys.exit(77)
file = sys.argv[1] + "/draws.nc"
posterior = xarray.open_dataset(file, group="posterior")
assert posterior["means"].dims == ("chain", "draw", "component", "feature"), posterior["means"].dims
data = xarray.open_dataset(file, group="observed_data")
inference = arviz.from_netcdf(file)
groups = set(inference.groups())
rows = inference.log_likelihood["x"]
assert list(rows["row"].values) == list(range(300)) and list(data["row"].values) == list(range(300))
assert (inference.log_prior["log_prior"] == inference.sample_stats["log_prior"]).all()
assert rows.dims == ("chain", "draw", "row"), rows.dims
error = abs(rows.sum("row") - inference.sample_stats["log_likelihood"])
assert float(error.max()) < 1e-6 * abs(float(inference.sample_stats["log_likelihood"].mean())), float(error.max())
loo = arviz.loo(inference, reff=1.0)
assert {"posterior", "sample_stats", "observed_data", "constant_data"} <= groups, groups
table = arviz.summary(inference, round_to="none", kind="all", var_names=["weights", "means", "scales"])
columns = {"mean": "mean", "sd": "sd", "r_hat": "rhat", "ess_bulk": "ess_bulk", "ess_tail": "ess_tail",
           "mcse_mean": "mcse_mean"}
features = [str(f) for f in posterior["feature"].values]
table_rows = []
for name, row in table.iterrows():
    for i, feature in enumerate(features):
        name = name.replace(", " + feature + "]", "," + str(i) + "]")
    table_rows.append({"name": name, **{ours: float(row[theirs]) for theirs, ours in columns.items()}})
print(json.dumps({"rows": table_rows, "observed": [data.sizes["row"], len(data.data_vars)], "elpd_loo": float(loo.elpd_loo), "se": float(loo.se)}))

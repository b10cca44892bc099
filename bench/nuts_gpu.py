#!/usr/bin/env python3
"""Compares emomc's gradient samplers with NumPyro's NUTS on the same GPU in one run: Poisson and logistic regression,
64 chains.

    bench/nuts_gpu.py --emomc build/release/bin/emomc [--chains 64] [--warmup 300] [--draws 1000] [--backend cuda]
                      [--only poisson|logistic] [--kinds nuts,chees,hmc] [--no-numpyro] [--json FILE]

The script prints the smallest bulk ESS of a parameter (by `emomc summary`, for the draws of both programs), this ESS
per second of sampling, without warm-up and compilation, and gradients per effective draw. Both programs have the same
priors, the same lengths of warm-up and sampling, and float32 terms of rows. NumPyro's chains begin near the truth,
because with its own starts they take minutes of deep trees; the time of its warm-up includes compilation, and that of
its draws does not."""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np

from own_likelihoods import make

CASES = [("Poisson, 1e5 rows, 10 covariates", "poisson", 100_000, 10),
         ("logistic, 1e5 rows, 50 covariates", "logistic", 100_000, 50)]


def run(a, folder, *command):
    done = subprocess.run([os.path.abspath(a.emomc), *command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"emomc {' '.join(command[:2])}: {done.stderr}")
    return done.stdout


def smallest_ess(a, folder, *draws):
    """Returns the smallest bulk ESS and the largest R-hat of the parameters; log densities, which NumPyro's files
    lack, are left out."""
    quantities = json.loads(run(a, folder, "summary", "--json", *draws))["parameters"]
    parameters = [row for row in quantities if not row["name"].startswith(("log_", "lp"))]
    return (min(row["ess_bulk"] for row in parameters if row["ess_bulk"] is not None),
            max(row["rhat"] for row in parameters if row["rhat"] is not None),
            {row["name"].replace("[", "_").replace("]", "").replace(".", "_"): (row["mean"], row["mcse_mean"])
             for row in parameters})


def of_emomc(a, folder, data, config, kind):
    np.save(folder / "data.npy", data)
    (folder / "c.yaml").write_text("data: {file: data.npy}\n" + config.replace("(x,", "(c0,") + f"""backend: {a.backend}
sampler:
  chains: {a.chains}
  warmup: {a.warmup}
  draws: {a.draws}
  proposal: {{kind: {kind}, shape: {a.shape}}}
""")
    run(a, folder, "run", "c.yaml", "-q", "--force", "--output", "run", "--set", "likelihood.precision=mixed", *[p for key in a.set for p in ("--set", key)])
    manifest = json.loads((folder / "run" / "manifest.json").read_text())
    ess, rhat, means = smallest_ess(a, folder, "run")
    return {"ess": ess, "rhat": rhat, "means": means, "seconds": manifest["seconds"]["sampling"],
            "warmup_seconds": manifest["seconds"]["warmup"], "gradients": leapfrogs(a, folder),
            "stepping": manifest.get("stepping", "")}


def leapfrogs(a, folder):
    """Returns the number of leapfrogs of all kept draws, from the columns of statistics of Stan CSV."""
    run(a, folder, "export", "run", "--format", "stan-csv", "--output", "stan.csv")
    total = 0
    for name in folder.glob("stan-*.csv"):
        with open(name) as file:
            lines = [line for line in file if not line.startswith("#")]
        column = lines[0].strip().split(",").index("n_leapfrog__")
        total += sum(int(float(line.split(",")[column])) for line in lines[1:])
    return total


def of_numpyro(a, folder, kind, data, theta):
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    x, y = jnp.asarray(data[:, :-1], jnp.float32), jnp.asarray(data[:, -1], jnp.float32)

    def model(x, y):  # x and y are arguments, because JAX would fold constants for minutes
        intercept = numpyro.sample("a", dist.Normal(0.0, 0.5))
        b = numpyro.sample("b", dist.Normal(0.0, 0.5).expand([x.shape[1]]).to_event(1))
        eta = intercept + x @ b
        if kind == "poisson":
            numpyro.factor("rows", jnp.sum(y * eta - jnp.exp(eta)))
        else:
            numpyro.factor("rows", jnp.sum(jax.nn.log_sigmoid((2 * y - 1) * eta)))

    start = {"a": jnp.float32(theta[0]), "b": jnp.asarray(theta[1:], jnp.float32)}
    kernel = NUTS(model, dense_mass=a.shape == "dense", init_strategy=numpyro.infer.init_to_value(values=start))
    mcmc = MCMC(kernel, num_warmup=a.warmup, num_samples=a.draws,
                num_chains=a.chains, chain_method="vectorized", progress_bar=False)
    extra = ("num_steps",)
    begin = time.perf_counter()
    mcmc.warmup(jax.random.PRNGKey(1), x, y)
    jax.block_until_ready(mcmc.post_warmup_state)
    warmup = time.perf_counter() - begin
    state = mcmc.post_warmup_state
    mcmc.run(state.rng_key, x, y, extra_fields=extra)  # compiles the loop over these draws
    mcmc.post_warmup_state = state
    begin = time.perf_counter()
    mcmc.run(state.rng_key, x, y, extra_fields=extra)
    draws = mcmc.get_samples(group_by_chain=True)
    jax.block_until_ready(draws)
    seconds = time.perf_counter() - begin
    files = []
    columns = x.shape[1]
    for c in range(a.chains):
        table = np.concatenate([np.zeros((a.draws, 1)), np.asarray(draws["a"][c], float)[:, None],
                                np.asarray(draws["b"][c], float)], axis=1)
        files.append(f"numpyro_{c}.csv")
        with open(folder / files[-1], "w") as file:
            file.write(f"# num_samples = {len(table)}\n# num_warmup = 0\n"
                       + ",".join(["lp__", "a"] + [f"b.{j + 1}" for j in range(columns)]) + "\n")
            for row in table:
                file.write(",".join(f"{v:.9g}" for v in row) + "\n")
    ess, rhat, means = smallest_ess(a, folder, *files)
    steps = int(np.asarray(mcmc.get_extra_fields(group_by_chain=True)["num_steps"]).sum())
    return {"ess": ess, "rhat": rhat, "means": means, "seconds": seconds, "warmup_seconds": warmup,
            "gradients": steps}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--shape", choices=["diagonal", "dense"], default="dense")
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default="nuts,chees,hmc", help="of emomc, separated by commas")
    parser.add_argument("--no-numpyro", action="store_true")
    parser.add_argument("--set", action="append", default=[], help="a key of emomc's configuration, key=value")
    parser.add_argument("--json", type=pathlib.Path)
    a = parser.parse_args()
    results = []
    print(f"{'posterior':<36} {'program':<8} {'R-hat':>6} {'min ESS':>8} {'s':>7} {'warm-up':>7} {'ESS/s':>9} "
          f"{'gradients/ESS':>13}")
    for name, kind, rows, columns in CASES:
        if a.only not in kind:
            continue
        data, config, theta = make(kind, rows, columns)
        runs = {}

        def show(program, r):
            r["rate"] = r["ess"] / r["seconds"]
            runs[program] = r
            print(f"{name:<36} {program:<8} {r['rhat']:>6.3f} {r['ess']:>8.0f} {r['seconds']:>7.3f} "
                  f"{r['warmup_seconds']:>7.3f} {r['rate']:>9.0f} {r['gradients'] / r['ess']:>13.2f}", flush=True)

        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            for of_us in a.kinds.split(","):
                show(of_us, of_emomc(a, folder, data, config, of_us))
            if not a.no_numpyro:
                try:
                    show("NumPyro", of_numpyro(a, folder, kind, data, theta))
                except ImportError:
                    print("NumPyro cannot be imported and is left out")
        if "NumPyro" in runs:
            for of_us in a.kinds.split(","):
                ours, theirs = list(runs[of_us]["means"].values()), list(runs["NumPyro"]["means"].values())
                apart = max(abs(m - n) / np.hypot(s, t) for (m, s), (n, t) in zip(ours, theirs))
                print(f"{of_us}: ratio {runs[of_us]['rate'] / runs['NumPyro']['rate']:.1f}; posterior means within "
                      f"{apart:.1f} combined MCSE; {runs[of_us]['stepping']}")
        results.append({"posterior": name, **runs})
    if a.json:
        a.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

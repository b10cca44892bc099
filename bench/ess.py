#!/usr/bin/env python3
"""Measures effective draws per second of emomc and of NumPyro's NUTS for the same posterior, on one machine in one
run.

    python3 bench/ess.py --data 'DIRECTORY/Sad_*.csv' [--emomc build/release/bin/emomc] [--backend cuda]
                         [--proposals crank_nicolson,component_wise,stretch:512] [--chains 64,512] [--json FILE] [--no-numpyro]
                         [--set sampler.proposal.target_acceptance=0.3 ...]

The model is a diagonal Gaussian mixture of standardised columns with the priors normal(0, 3) for means, normal(-0.5,
1) for log scales and Dirichlet(1) for weights. All chains of both programs start at the same EM fit. The bulk ESS of
both sets of draws is computed by `emomc summary` (NumPyro's log density is that of the unconstrained parameters);
quantities of components are those after relabelling. A group of chains counts only if each of its R-hats is below
1.01. Rates are per second of sampling and per second of warm-up and sampling; neither includes compilation. --warmup
and --thin are numbers of steps of crank_nicolson. Other proposals take as many more steps as make the number of
evaluations equal, except those with trajectories (nuts, hmc, mala), which have --nuts-warmup and --nuts-draws.
PROPOSAL:N runs N chains of that proposal. Without numpyro only emomc is measured.
"""
import argparse
import csv
import glob
import json
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np


# Number of evaluations of a step with K components. A sweep updates K means, K scales and the weights, one block at a
# time.
EVALUATIONS = {"crank_nicolson": lambda K: 3 * (2 * K + 1), "component_wise": lambda K: 2 * K + 1,
               "split_merge": lambda K: 3 * K + 1, "delayed_rejection": lambda K: 2}


def evaluations(proposal, K):
    return EVALUATIONS.get(proposal, lambda K: 1)(K)


def config_text(a, columns):
    return f"""data: {{file: '{os.path.abspath(a.data)}', standardize: true}}
likelihood: {{model: gaussian_mixture, components: {a.components}, covariance: diagonal}}
prior:
  weights: {{dirichlet: 1}}
  means: {{normal: {{mean: 0, sd: 3}}}}
  scales: {{lognormal: {{meanlog: -0.5, sdlog: 1}}}}
  scale_floor: 0
sampler: {{init: em.json}}
backend: {a.backend}
"""


def run(a, folder, *command):
    done = subprocess.run([os.path.abspath(a.emomc), *command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"emomc {' '.join(command[:2])}: {done.stderr}")
    return done.stdout


def frames(pattern):
    rows = []
    for name in sorted(glob.glob(pattern)):
        with open(name) as file:
            rows += [[float(v) for k, v in row.items() if k not in ("utterance", "frame", "speaker", "emotion")]
                     for row in csv.DictReader(file)]
    return np.array(rows)


def summarised(a, folder, *draws):
    summary = json.loads(run(a, folder, "summary", "--json", *draws))
    return {row["name"]: row for row in summary["parameters"] + summary["label_free"]}


def chosen(summary, prefix):
    return [row for name, row in summary.items() if name.split("[")[0].split(".")[0] == prefix and row["ess_bulk"] is not None]


def indices(name):
    """Returns [component, column] from 0, from a name such as 'means[2,4]' or, in CmdStan's files, 'means.3.5'."""
    if "[" in name:
        return [int(i) for i in name[name.index("[") + 1:-1].split(",")]
    return [int(i) - 1 for i in name.split(".")[1:]]


def figures(summary, warmup, sampling, unit=None):
    """Returns the figures of one run. `unit` contains the mean and sd of the columns in whose units the means are
    given."""
    result = {"warmup_seconds": warmup, "sampling_seconds": sampling}
    for group, prefix in (("log density", "log_density"), ("sorted weights", "sorted_weights"), ("means", "means")):
        rows = chosen(summary, prefix)
        if not rows:
            continue
        ess = [row["ess_bulk"] for row in rows]
        if prefix == "means":
            rows.sort(key=lambda row: indices(row["name"]))
            if unit:
                for row in rows:
                    column = indices(row["name"])[1]
                    row["mean"] = (row["mean"] - unit[0][column]) / unit[1][column]
                    row["mcse_mean"] /= unit[1][column]
        result[group] = {"slowest": min(ess), "median": statistics.median(ess), "rhat": max(r["rhat"] for r in rows),
                         "mean": [r["mean"] for r in rows],
                         "mcse": [r["mcse_mean"] for r in rows]}
    return result


def measure_emomc(a, folder, proposal, chains, unit):
    # An ensemble move updates half of the chains, so that a step is one evaluation of every chain.
    if proposal in ("nuts", "hmc", "mala"):
        warmup, draws, thin = a.nuts_warmup, a.nuts_draws, 1
    else:
        longer = round(evaluations("crank_nicolson", a.components) / evaluations(proposal, a.components))
        warmup, draws, thin = a.warmup * longer, a.draws, a.thin * longer
    run(a, folder, "run", "config.yaml", "-q", "--force", "--output", f"run{chains}", "--set", f"sampler.chains={chains}",
        "--set", f"sampler.warmup={warmup}", "--set", f"sampler.draws={draws}", "--set", f"sampler.thin={thin}",
        "--set", f"sampler.proposal.kind={proposal}", *[part for key in a.set for part in ("--set", key)])
    with open(os.path.join(folder, f"run{chains}", "manifest.json")) as file:
        manifest = json.load(file)
    result = figures(summarised(a, folder, f"run{chains}"), manifest["seconds"]["warmup"],
                     manifest["seconds"]["sampling"], unit)
    result.update(program=f"emomc {proposal}", chains=chains, steps=draws * thin, stepping=manifest.get("stepping", ""))
    return result


def measure_numpyro(a, folder, x, start):
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    data, K, d = jnp.asarray(x, jnp.float32), a.components, x.shape[1]

    def model():
        weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(K)))
        means = numpyro.sample("means", dist.Normal(0.0, 3.0).expand([K, d]).to_event(2))
        scales = numpyro.sample("scales", dist.LogNormal(-0.5, 1.0).expand([K, d]).to_event(2))
        z = (data[:, None, :] - means) / scales
        terms = jnp.log(weights) - jnp.log(scales).sum(1) - 0.5 * (z * z).sum(2)
        ll = jax.scipy.special.logsumexp(terms, axis=1).sum() - 0.5 * d * len(x) * np.log(2 * np.pi)
        numpyro.factor("rows", ll)

    chains = a.numpyro_chains
    mcmc = MCMC(NUTS(model, init_strategy=numpyro.infer.init_to_value(
        values={k: jnp.asarray(v, jnp.float32) for k, v in start.items()})), num_warmup=a.numpyro_warmup,
        num_samples=a.numpyro_draws, num_chains=chains, chain_method="vectorized", progress_bar=False)

    # The first run compiles, and the second run is timed.
    keys = jax.random.split(jax.random.PRNGKey(1), 2)
    extra = ("potential_energy",)
    mcmc.warmup(keys[0])
    mcmc.run(mcmc.post_warmup_state.rng_key, extra_fields=extra)
    mcmc.post_warmup_state = None
    begin = time.perf_counter()
    mcmc.warmup(keys[1])
    jax.block_until_ready(mcmc.post_warmup_state)
    warmup = time.perf_counter() - begin
    begin = time.perf_counter()
    mcmc.run(mcmc.post_warmup_state.rng_key, extra_fields=extra)
    jax.block_until_ready(mcmc.get_samples())
    sampling = time.perf_counter() - begin
    draws = mcmc.get_samples(group_by_chain=True)
    density = -np.asarray(mcmc.get_extra_fields(group_by_chain=True)["potential_energy"], float)
    names = ["lp__"] + [f"weights.{k + 1}" for k in range(K)] + \
        [f"{b}.{k + 1}.{j + 1}" for b in ("means", "scales") for j in range(d) for k in range(K)]
    files = []
    for c in range(chains):
        w, m, s = (np.asarray(draws[b][c], float) for b in ("weights", "means", "scales"))
        table = np.concatenate([density[c][:, None], w, m.transpose(0, 2, 1).reshape(len(w), -1),
                                s.transpose(0, 2, 1).reshape(len(w), -1)], axis=1)
        files.append(f"numpyro_{c}.csv")
        with open(os.path.join(folder, files[-1]), "w") as file:
            file.write(f"# num_samples = {len(table)}\n# num_warmup = 0\n" + ",".join(names) + "\n")
            for row in table:
                file.write(",".join(f"{v:.9g}" for v in row) + "\n")
    summary = summarised(a, folder, *files)
    result = figures(summary, warmup, sampling)
    if "log density" not in result:
        rows = chosen(summary, "lp__")
        result["log density"] = {"slowest": rows[0]["ess_bulk"], "median": rows[0]["ess_bulk"], "rhat": rows[0]["rhat"],
                                 "mean": [rows[0]["mean"]], "mcse": [rows[0]["mcse_mean"]]}
    result.update(program="NumPyro NUTS", chains=chains, steps=a.numpyro_draws)
    return result


def table(results):
    peer = next((r for r in results if r["program"].startswith("NumPyro")), None)
    lines = ["| program | chains | quantity | R-hat | ESS | ESS/s | with warm-up | ratio | with warm-up |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        for group in ("log density", "sorted weights", "means"):
            for which in ("slowest", "median") if group == "means" else ("slowest",):
                if group not in r:
                    continue
                g, total = r[group], r["warmup_seconds"] + r["sampling_seconds"]
                rates = [g[which] / r["sampling_seconds"], g[which] / total]
                ratios = ["", ""]
                if peer is not None and r is not peer and group in peer:
                    other = peer["warmup_seconds"] + peer["sampling_seconds"]
                    ratios = [f"{rates[0] / (peer[group][which] / peer['sampling_seconds']):.1f}",
                              f"{rates[1] / (peer[group][which] / other):.1f}"]
                name = group if group != "means" else f"{which} mean"
                mark = "" if g["rhat"] < 1.01 else " (does not count)"
                lines.append(f"| {r['program']} | {r['chains']} | {name} | {g['rhat']:.3f}{mark} | {g[which]:,.0f} | "
                             f"{rates[0]:,.0f} | {rates[1]:,.0f} | {ratios[0]} | {ratios[1]} |")
    return "\n".join(lines)


def apart(r, peer, group):
    """Returns the largest difference of posterior means, in combined MCSE."""
    if group not in r or group not in peer or len(r[group]["mean"]) != len(peer[group]["mean"]):
        return None
    return max(abs(m - n) / np.hypot(s, t) for m, n, s, t in
               zip(r[group]["mean"], peer[group]["mean"], r[group]["mcse"], peer[group]["mcse"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--proposals", default="crank_nicolson,component_wise")
    parser.add_argument("--components", type=int, default=8)
    parser.add_argument("--chains", default="64,256")
    parser.add_argument("--warmup", type=int, default=600)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--thin", type=int, default=1)
    parser.add_argument("--nuts-warmup", type=int, default=300)
    parser.add_argument("--nuts-draws", type=int, default=500)
    parser.add_argument("--numpyro-chains", type=int, default=64)
    parser.add_argument("--numpyro-warmup", type=int, default=300)
    parser.add_argument("--numpyro-draws", type=int, default=500)
    parser.add_argument("--no-numpyro", action="store_true")
    parser.add_argument("--set", action="append", default=[], help="a key of emomc's configuration, key=value")
    parser.add_argument("--json")
    a = parser.parse_args()
    x = frames(a.data)
    mean, sd = x.mean(0), x.std(0)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.yaml"), "w") as file:
            file.write(config_text(a, x.shape[1]))
        run(a, folder, "fit", "config.yaml", "-o", "em.json", "-q", "--set", "sampler.init=kmeans")
        with open(os.path.join(folder, "em.json")) as file:
            em = json.load(file)
        em = em.get("parameters", em)
        start = {"weights": np.array(em["weights"]), "means": (np.array(em["means"]) - mean) / sd,
                 "scales": np.array(em["scales"]) / sd}
        results = []
        if not a.no_numpyro:
            try:
                results.append(measure_numpyro(a, folder, (x - mean) / sd, start))
            except ImportError:
                print("numpyro is not installed")
        for named in a.proposals.split(","):
            proposal, _, own = named.partition(":")
            for chains in [own] if own else a.chains.split(","):
                results.append(measure_emomc(a, folder, proposal, int(chains), (mean, sd)))
    print(table(results))
    if results[0]["program"].startswith("NumPyro"):
        for r in results[1:]:
            for group in ("sorted weights", "means"):
                distance = apart(r, results[0], group)
                if distance is not None:
                    print(f"{r['program']}, {r['chains']} chains: {group} within {distance:.1f} combined MCSE of NumPyro's")
    if a.json:
        with open(a.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures effective draws per second of emomc's NUTS and of Stan's (R's rstan), for the same posteriors on the same
cores in one run.

    python3 bench/nuts_stan.py [--emomc build/release/bin/emomc] [--cases poisson,logistic,eight_schools,galaxies]
                               [--rounds 3] [--warmup 1000] [--draws 1000] [--chains 4] [--cores 2] [--stan-cache DIR]
                               [--set sampler.proposal.target_acceptance=0.9 ...] [--json FILE]

In each round each program samples once, with another seed. --draws is the number for the regressions, which take
seconds; the other two posteriors take ten times as many draws, so that their times of milliseconds are not dominated
by writing files. ESS is estimated by ArviZ for both: the smallest bulk ESS of the parameters (neither log densities
nor derived quantities are parameters). Both programs use their default starts and acceptance targets: 0.9 for emomc
(docs/decisions/gradient-samplers.md says why), 0.8 for Stan.

The seconds are those which the programs report for warm-up and for sampling, without start-up and compilation (which
is printed). emomc's are wall time and include writing its files. Stan 2.21 reports the processor time of each chain;
the sum is divided by the number of cores, as if cores never waited. A busy machine therefore makes emomc look worse.
"waited" is the share of its cores' time that emomc did not use, because other programs had the cores or because it
used one thread. Rounds in which an R-hat of either program is above 1.01 are left out and listed. Posterior means of
all other rounds are compared in combined standard errors. The script needs numpy, ArviZ, and R with rstan and
jsonlite."""
import argparse
import csv
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile

import arviz
import numpy as np
from own_likelihoods import make
from stan_session import StanSession

HERE = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = HERE / "docs/examples/likelihoods"


def regression(kind, columns, folder):
    data, config, _ = make(kind, 10_000, columns)
    np.save(folder / "data.npy", data)
    config = config[:config.index("prior:")] + "prior: {a: {normal: {mean: 0, sd: 5}}, b: {normal: {mean: 0, sd: 2.5}}}\n"
    stan = {"N": len(data), "K": columns, "x": data[:, :-1], "y": data[:, -1].astype(np.int32), "sd_a": 5, "sd_b": 2.5,
            "form": 2, "values": 0}
    return f"data: {{file: {folder}/data.npy}}\n{config}", stan


def eight_schools(folder):
    with open(EXAMPLES / "data/eight_schools.csv") as file:
        rows = list(csv.DictReader(file))
    config = (EXAMPLES / "eight_schools.yaml").read_text().replace("docs/examples/likelihoods", str(EXAMPLES))
    return config, {"J": len(rows), **{name: np.array([float(r[name]) for r in rows]) for name in ("effect", "error")}}


def galaxies(folder):
    config = (HERE / "configs/galaxies.yaml").read_text().replace("configs/", f"{HERE}/configs/")
    x = np.loadtxt(HERE / "configs/galaxies.csv", skiprows=1)
    return config[:config.index("sampler:")], {"N": len(x), "K": 3, "x": x}


CASES = {"poisson": lambda folder: regression("poisson", 10, folder),
         "logistic": lambda folder: regression("logistic", 50, folder), "eight_schools": eight_schools,
         "galaxies": galaxies}
MOST_RHAT = 1.01
LONGER = {"eight_schools": 10, "galaxies": 10}  # factor of the number of draws
TITLES = {"poisson": "Poisson, 1e4 rows, 10 covariates", "logistic": "logistic, 1e4 rows, 50 covariates",
          "eight_schools": "eight schools, non-centred", "galaxies": "galaxies, 3 components"}


def stan_csv(file):
    """Returns {name: values} of a file in CmdStan's format."""
    with open(file) as text:
        lines = [line for line in text if not line.startswith("#")]
    return dict(zip(lines[0].strip().split(","), np.array([list(map(float, line.split(","))) for line in lines[1:]]).T))


def sample_emomc(a, folder, draws, seed):
    def children():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = children()
    keys = {"chains": a.chains, "warmup": a.warmup, "draws": draws, "seed": seed, "proposal.kind": "nuts"}
    done = subprocess.run([a.emomc, "run", folder / "c.yaml", "-q", "--force", "--output", folder / "run", "--backend", "cpu",
                           "--threads", str(a.cores), *[w for k, v in keys.items() for w in ("--set", f"sampler.{k}={v}")],
                           *[w for key in a.set for w in ("--set", key)]], capture_output=True, text=True)
    used = children() - before
    if done.returncode not in (0, 1):
        raise SystemExit(f"emomc: {done.stderr}")
    manifest = json.loads((folder / "run/manifest.json").read_text())
    for old in folder.glob("draws-*.csv"):
        old.unlink()
    subprocess.run([a.emomc, "export", folder / "run", "--format", "stan-csv", "-o", folder / "draws.csv"], check=True,
                   capture_output=True)
    chains = [stan_csv(folder / f"draws-{c + 1}.csv") for c in range(a.chains)]
    seconds = manifest["seconds"]
    leapfrogs = sum(c["n_leapfrog__"].sum() for c in chains)
    return {"warmup": seconds["warmup"], "sampling": seconds["sampling"], "startup": seconds["startup"], "processor": used,
            "leapfrogs": leapfrogs, "warmup_leapfrogs": manifest["evaluations"] - leapfrogs,
            "divergences": int(sum(c["divergent__"].sum() for c in chains)),
            "step_size": float(np.mean([c["stepsize__"][-1] for c in chains])),
            "acceptance": float(np.mean([c["accept_stat__"].mean() for c in chains])),
            # means.2.1 is the mean of component 2 in the only column: means.2 in Stan's model.
            "draws": {re.sub(r"^(means|scales)\.(\d+)\.1$", r"\1.\2", name): np.array([c[name] for c in chains])
                      for name in chains[0]}}


def sample_stan(a, session, draws, seed):
    answer, table = session.sample(a.chains, a.cores, a.warmup, draws, seed)
    draws = {n.replace("[", ".").replace(",", ".").rstrip("]"): table[:, :, i] for i, n in enumerate(answer["names"])}
    for name in ("lp__", "value"):
        draws.pop(name, None)
    return {"warmup": sum(answer["warmup"]) / a.cores, "sampling": sum(answer["sampling"]) / a.cores, "wall": answer["wall"],
            "leapfrogs": answer["leapfrogs"], "warmup_leapfrogs": answer["warmup_leapfrogs"],
            "divergences": answer["divergences"], "step_size": float(np.mean(answer["step_size"])),
            "acceptance": answer["acceptance"], "draws": draws}


def judged(one, names):
    ess = {name: float(arviz.ess(one["draws"][name], method="bulk")) for name in names}
    one["slowest"] = min(ess, key=ess.get)
    one["ess"] = ess[one["slowest"]]
    one["rhat"] = max(float(arviz.rhat(one["draws"][name])) for name in names)
    one["ess_per_second"] = one["ess"] / one["sampling"]
    one["ess_per_second_with_warmup"] = one["ess"] / (one["sampling"] + one["warmup"])
    one["leapfrogs_per_effective_draw"] = one["leapfrogs"] / one["ess"]
    one["microseconds_per_leapfrog"] = 1e6 * one["sampling"] / one["leapfrogs"]


def largest_z(ours, theirs, names):
    worst = (0, "")
    for name in names:
        x, y = (np.concatenate([one["draws"][name] for one in of]) for of in (ours, theirs))
        error = np.hypot(*(np.ravel(arviz.mcse(draws, method="mean"))[0] for draws in (x, y)))
        worst = max(worst, (abs(x.mean() - y.mean()) / error, name))
    return worst


FIGURES = ["ess", "ess_per_second", "ess_per_second_with_warmup", "leapfrogs_per_effective_draw", "microseconds_per_leapfrog",
           "warmup", "sampling", "leapfrogs", "warmup_leapfrogs", "step_size", "acceptance", "divergences", "rhat"]


def measure(a, case, folder):
    config, data = CASES[case](folder)
    (folder / "c.yaml").write_text(config)
    runs = {"emomc": [], "Stan": []}
    with StanSession(case, a.stan_cache or folder / "stan") as session:
        compile_seconds = session.load(data)["compile_seconds"]
        draws = a.draws * LONGER.get(case, 1)
        sample_emomc(a, folder, draws, 1)  # compiles and caches its likelihood
        for seed in range(1, a.rounds + 1):
            runs["emomc"].append(sample_emomc(a, folder, draws, seed))
            runs["Stan"].append(sample_stan(a, session, draws, seed))
    names = list(runs["Stan"][0]["draws"])
    for one in runs["emomc"] + runs["Stan"]:
        judged(one, names)
    kept = [i for i in range(a.rounds) if max(of[i]["rhat"] for of in runs.values()) < MOST_RHAT]
    if not kept:
        raise SystemExit(f"{case}: R-hat is above {MOST_RHAT} in every round")
    left_out = [f"round {i + 1} (R-hat {runs['emomc'][i]['rhat']:.3f}, Stan {runs['Stan'][i]['rhat']:.3f})"
                for i in range(a.rounds) if i not in kept]
    runs = {program: [of[i] for i in kept] for program, of in runs.items()}
    z, at = largest_z(runs["emomc"], runs["Stan"], names)
    result = {"case": case, "parameters": len(names), "z": z, "z_of": at, "stan_compile_seconds": compile_seconds, "left_out": left_out,
              "load": os.getloadavg()[0]}
    for program, of in runs.items():
        result[program] = {figure: statistics.median(one[figure] for one in of) for figure in FIGURES}
        result[program]["slowest"] = [one["slowest"] for one in of]
    total = sum(one["startup"] + one["warmup"] + one["sampling"] for one in runs["emomc"])
    result["emomc"]["waited"] = 1 - sum(one["processor"] for one in runs["emomc"]) / total / a.cores
    for figure in ("ess_per_second", "ess_per_second_with_warmup"):
        each = [x[figure] / y[figure] for x, y in zip(runs["emomc"], runs["Stan"])]
        result["ratio_" + figure] = statistics.median(each)
        result["ratios_" + figure] = each
    return result


def table(results):
    lines = ["| posterior | program | min ESS | ESS/s | with warm-up | leapfrogs per effective draw | µs per leapfrog | R-hat | "
             "ratio | with warm-up |", "|---|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        for program in ("Stan", "emomc"):
            p = r[program]
            ratios = f"{r['ratio_ess_per_second']:.1f} | {r['ratio_ess_per_second_with_warmup']:.1f}" if program == "emomc" else " | "
            lines.append(f"| {TITLES[r['case']] if program == 'Stan' else ''} | {program} | {p['ess']:,.0f} | {p['ess_per_second']:,.0f} | "
                         f"{p['ess_per_second_with_warmup']:,.0f} | {p['leapfrogs_per_effective_draw']:.1f} | "
                         f"{p['microseconds_per_leapfrog']:.3g} | {p['rhat']:.3f} | {ratios} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--stan-cache", help="folder that keeps compiled models")
    parser.add_argument("--set", action="append", default=[], help="a key of emomc's configuration, key=value")
    parser.add_argument("--json", type=pathlib.Path)
    a = parser.parse_args()
    results = []
    for case in a.cases.split(","):
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure(a, case, pathlib.Path(folder)))
        r = results[-1]
        print(f"{TITLES[case]}: the largest difference of {r['parameters']} posterior means is {r['z']:.1f} combined standard "
              f"errors ({r['z_of']}); divergences {r['emomc']['divergences']:.0f} and {r['Stan']['divergences']:.0f} (Stan); step "
              f"size {r['emomc']['step_size']:.3g} and {r['Stan']['step_size']:.3g}, acceptance {r['emomc']['acceptance']:.3f} and "
              f"{r['Stan']['acceptance']:.3f}; warm-up leapfrogs {r['emomc']['warmup_leapfrogs']:,.0f} and "
              f"{r['Stan']['warmup_leapfrogs']:,.0f}; waited {r['emomc']['waited']:.0%}; load {r['load']:.1f}; Stan compiled in "
              f"{r['stan_compile_seconds']:.0f} s, not counted; ratios of rounds "
              f"{', '.join(f'{x:.1f}' for x in r['ratios_ess_per_second'])}"
              + (f"; does not count: {', '.join(r['left_out'])}" if r["left_out"] else ""), flush=True)
    print(table(results))
    if a.json:
        a.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

"""Compares proposals: ESS per second and per likelihood evaluation of every proposal on six targets.

  python3 bench/proposals.py [--bin build/release/bin] [--sad 'DIRECTORY/Sad_*.csv'] [--backend cpu] [--only TARGET]
                             [--kinds KIND,...] [--json FILE]

The targets are the Sad frames (skipped without --sad), the galaxies with three and with six components, a two-Gaussian
fit of 20,000 simulated events, and, without data, a correlated normal in 100 dimensions and a banana. ESS is the
minimum of bulk and tail ESS over log densities and all parameters. All runs have the same number of evaluations, a
quarter of them in warm-up. The script needs only Python.
"""
import argparse
import json
import os
import subprocess
import tempfile

KINDS = {"component_wise": "{kind: component_wise}", "random_walk": "{kind: random_walk, shape: dense}",
         "adaptive_metropolis": "{kind: adaptive_metropolis}",
         "delayed_rejection": "{kind: delayed_rejection, shape: dense}", "independence": "{kind: independence}",
         "differential_evolution": "{kind: differential_evolution}", "stretch": "{kind: stretch}",
         "split_merge": "{kind: split_merge}", "crank_nicolson": "{kind: crank_nicolson}",
         "mala": "{kind: mala, shape: dense}", "hmc": "{kind: hmc, shape: dense}", "nuts": "{kind: nuts, shape: dense}",
         "chees": "{kind: chees, shape: dense}"}
GRADIENT = ("mala", "hmc", "nuts", "chees")  # an evaluation is one of the value and its gradient
parser = argparse.ArgumentParser()
parser.add_argument("--bin", default="build/release/bin")
parser.add_argument("--sad")
parser.add_argument("--backend", default="cpu")
parser.add_argument("--only", help="Sad, galaxies, galaxies K = 6, two-Gaussian or synthetic")
parser.add_argument("--kinds", help="some proposals only, separated by commas")
parser.add_argument("--json")
arguments = parser.parse_args()
emomc = os.path.abspath(os.path.join(arguments.bin, "emomc"))
results = []


def run(*command, folder):
    done = subprocess.run([emomc, *command], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def evaluations_per_step(kind, spec, chains, folder):
    if kind in GRADIENT:  # the number of leapfrogs is known after a run only
        pilot = sample(spec, chains, 300, 300, 1, folder)
        return max(1, round(pilot["evaluations"] / (600 * chains)))
    check = json.loads(run("check", "config.yaml", "--json", "--set", f"sampler.proposal={spec}", "--set",
                           f"sampler.chains={chains}", "--set", "sampler.warmup=0", "--set", "sampler.draws=1",
                           "--set", "sampler.thin=1", folder=folder))
    return round(check["evaluations"] / chains)


def sample(spec, chains, warmup, draws, thin, folder):
    """Returns the summary of a run, and its number of evaluations."""
    run("run", "config.yaml", "-q", "--force", "--output", "run", "--set", f"sampler.proposal={spec}",
        "--set", f"sampler.chains={chains}", "--set", f"sampler.warmup={warmup}", "--set", f"sampler.thin={thin}",
        "--set", f"sampler.draws={draws}", "--set", f"backend={arguments.backend}", folder=folder)
    with open(os.path.join(folder, "run/manifest.json")) as file:
        evaluations = json.load(file)["evaluations"]
    return {**json.loads(run("summary", "run", "--json", folder=folder)), "evaluations": evaluations}


def measure(target, config, free, evaluations, folder, components):
    if arguments.only not in (None, target):
        return
    with open(os.path.join(folder, "config.yaml"), "w") as file:
        file.write(config)
    for kind, spec in KINDS.items():
        if (kind == "split_merge" and components < 3) or (arguments.kinds and kind not in arguments.kinds.split(",")):
            continue
        ensemble = kind in ("differential_evolution", "stretch")
        chains = max(2 * free, 8) if ensemble else 8
        per_step = evaluations_per_step(kind, spec, chains, folder)
        steps = max(evaluations // (chains * per_step), 100)
        thin = max(1, steps // 2000)
        summary = sample(spec, chains, steps // 4, steps // thin, thin, folder)
        # A quantity that never changed has no ESS.
        rows = [{key: 0 if value is None and key != "rhat" else value for key, value in row.items()}
                for row in summary["parameters"]]
        results.append({"target": target, "proposal": kind, "ess": min(min(r["ess_bulk"], r["ess_tail"]) for r in rows),
                        "rhat": max(float("inf") if r["rhat"] is None else r["rhat"] for r in rows), "evaluations": summary["evaluations"],
                        "seconds": summary["seconds"]["sampling"]})
        show(results[-1])


def show(r):
    print(f"{r['target']:14} {r['proposal']:22} ESS {r['ess']:9.0f}  R-hat {r['rhat']:6.3f}  "
          f"{1e3 * r['ess'] / r['evaluations']:9.3f} per 1,000 evaluations  {r['ess'] / r['seconds']:10.0f} per second",
          flush=True)


root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with tempfile.TemporaryDirectory() as folder:
    if arguments.sad:
        measure("Sad", f"data: {{file: '{os.path.abspath(arguments.sad)}'}}\nlikelihood: {{components: 2}}\n"
                "sampler: {init: em}\n", 53, 200_000, folder, 2)
    measure("galaxies", f"data: {{file: '{root}/configs/galaxies.csv', standardize: false}}\n"
            "likelihood: {components: 3}\nprior: {means: {normal: {mean: 20, sd: 10}}, scales: {half_normal: 1}, "
            "order: means.0}\n", 8, 1_000_000, folder, 3)
    measure("galaxies K = 6", f"data: {{file: '{root}/configs/galaxies.csv', standardize: false}}\n"
            "likelihood: {components: 6}\nprior: {weights: {dirichlet: 2}, means: {normal: {mean: 20, sd: 10}}, "
            "scales: {half_normal: 1}, order: means.0}\n", 17, 10_000_000, folder, 6)
    with open(os.path.join(folder, "simulation.yaml"), "w") as file:
        file.write("model: two_gaussian\nparameters: {fraction: 0.7, mean: 0.3, sigma: [0.8, 2.2]}\nrows: 20000\n")
    run("simulate", "simulation.yaml", "-o", "events", folder=folder)
    measure("two-Gaussian", "data: {file: events/data.csv, standardize: false}\nlikelihood: {model: two_gaussian}\n"
            "prior: {sigma: {half_normal: 5}, order: sigma}\n", 4, 200_000, folder, 0)
if arguments.only in (None, "synthetic"):
    synthetic = subprocess.run([os.path.join(arguments.bin, "emomc_synthetic_targets"),
                                *(arguments.kinds.split(",") if arguments.kinds else [])], capture_output=True, text=True,
                               check=True)
    for line in synthetic.stdout.splitlines():
        results.append(json.loads(line))
        show(results[-1])
if arguments.json:
    with open(arguments.json, "w") as file:
        json.dump(results, file, indent=1)

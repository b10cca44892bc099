#!/usr/bin/env python3
"""Compares proposals on ordinary problems with default settings otherwise: seconds from the file to 400 effective
draws of every quantity, and what `emomc diagnose` reports. The rules of `sampler.proposal.kind: auto` come from the
results.

    bench/default_proposals.py build/release/bin/emomc --kinds component_wise,nuts:diagonal --only mixtures
    bench/default_proposals.py build/release/bin/emomc --kinds crank_nicolson:dense,nuts:dense --only examples

Problems are the examples of docs/examples/likelihoods, random mixtures of easy_mixtures.py, and mixtures and
regressions of the small data sets of scikit-learn, if it is installed. Each kind runs on two threads with the seeds 1
to --seeds, for at most --seconds. The script prints processor seconds, which other work on the machine changes less
than wall time, and wall seconds. If a run has not reached 400 effective draws, or if diagnose rejects it, its verdict
is printed instead.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from easy_mixtures import make_problem

ROOT = pathlib.Path(__file__).resolve().parent.parent


def mixture_text(file, components, model="gaussian_mixture", covariance="diagonal"):
    keys = "" if model == "two_gaussian" else f", components: {components}"
    if model == "gaussian_mixture":
        keys += f", covariance: {covariance}"
    return f"data: {{file: {file}}}\nlikelihood: {{model: {model}{keys}}}\n"


def write_csv(path, names, rows):
    path.write_text(",".join(names) + "\n" + "".join(",".join(f"{x:.10g}" for x in row) + "\n" for row in rows))


def examples(_):
    for path in sorted((ROOT / "docs/examples/likelihoods").glob("*.yaml")):
        yield path.stem, path.read_text()


def mixtures(folder):
    for separation in ("apart", "overlapping"):
        for seed in range(1, 6):
            components, rows = make_problem(seed, separation)
            path = folder / f"{separation}_{seed}.csv"
            write_csv(path, [f"c{j}" for j in range(len(rows[0]))], rows)
            yield f"{separation} {seed}, K = {components}, d = {len(rows[0])}, N = {len(rows)}", mixture_text(path, components)
    galaxies = ROOT / "configs/galaxies.csv"
    for components in (2, 3, 6):
        yield f"galaxies, K = {components}", mixture_text(galaxies, components)
    yield "galaxies, K = 3, student_t", mixture_text(galaxies, 3, "student_t_mixture")
    yield "galaxies, two_gaussian", mixture_text(galaxies, 2, "two_gaussian")


def data_sets(folder):
    try:
        from sklearn import datasets
    except ImportError:
        return
    clean = lambda name: "".join(c if c.isalnum() else "_" for c in name)
    for name, columns, settings in (("iris", 4, [(3, "diagonal"), (3, "full")]), ("wine", 13, [(3, "diagonal"), (3, "full")]),
                                    ("breast_cancer", 10, [(2, "diagonal"), (2, "full")]), ("diabetes", 10, [(2, "diagonal")]),
                                    ("linnerud", 3, [(2, "spherical")])):
        found = getattr(datasets, f"load_{name}")()
        path = folder / f"{name}.csv"
        write_csv(path, [clean(c) for c in list(found.feature_names)[:columns]], found.data[:, :columns])
        for components, covariance in settings:
            yield f"{name}, K = {components}, d = {columns}, {covariance}", mixture_text(path, components, covariance=covariance)
    for name, columns, density, prior in (
            ("diabetes", 10, "normal_lpdf(y, 150 + 50 * eta, s)", "s: {half_normal: 100}, "),
            ("breast_cancer", 10, "bernoulli_logit_lpmf(y, eta)", ""), ("wine", 13, "normal_lpdf(y, eta, s)", "s: {half_normal: 1}, ")):
        found = getattr(datasets, f"load_{name}")()
        x = found.data[:, :columns]
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        path = folder / f"{name}_y.csv"
        names = [f"x{j}" for j in range(columns)]
        write_csv(path, names + ["y"], [list(row) + [y] for row, y in zip(x, found.target)])
        scale = "  parameters: {s: {support: positive}}\n" if prior else ""
        yield f"{name}, regression on {columns}", (
            f"data: {{file: {path}}}\nlikelihood:\n{scale}"
            f"  linear: {{eta: {{intercept: a, columns: [{', '.join(names)}], coefficients: b}}}}\n"
            f'  log_density: "{density}"\n'
            f"prior: {{{prior}a: {{normal: {{mean: 0, sd: 5}}}}, b: {{normal: {{mean: 0, sd: 2.5}}}}}}\n")


def run(program, text, kind, seed, folder, limit, chains):
    """Returns (processor seconds, wall seconds, verdict or "")."""
    config, out = folder / "config.yaml", folder / "run"
    config.write_text(text)
    name, _, shape = kind.partition(":")
    sets = ["sampler.until.ess=400", f"sampler.until.seconds={limit}", f"sampler.seed={seed}", "threads=2", "backend=cpu"]
    if chains:
        sets.append(f"sampler.chains={chains}")
    if name != "default":
        sets.append(f"sampler.proposal.kind={name}")
    if shape:
        sets.append(f"sampler.proposal.shape={shape}")
    arguments = [program, "run", str(config), "-o", str(out), "--force", "-q", "--allow-code"]
    for one in sets:
        arguments += ["--set", one]
    began = time.monotonic()
    before = os.times()
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    after = os.times()
    wall = time.monotonic() - began
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    if done.returncode:
        return cpu, wall, done.stderr.strip().splitlines()[-1][:100] if done.stderr.strip() else f"exit code {done.returncode}"
    told = subprocess.run([program, "diagnose", str(out), "--json"], cwd=ROOT, capture_output=True, text=True, check=False)
    manifest = json.loads((out / "manifest.json").read_text())
    ended = str(manifest.get("ended_by", manifest.get("until", "")))
    verdict = "" if told.returncode == 0 else "rejected"
    if not verdict and "ess" not in ended:
        verdict = "ess not reached" if not ended else ended
    return cpu, wall, verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kinds", default="default,nuts:diagonal,nuts:dense")
    parser.add_argument("--only", choices=("examples", "mixtures", "data_sets"))
    parser.add_argument("--match", default="", help="problems whose name has this text")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--chains", type=int, help="sampler.chains")
    parser.add_argument("--json", help="also write the figures here")
    a = parser.parse_args()
    program = str(pathlib.Path(a.program).resolve())
    kinds = a.kinds.split(",")
    print("| problem | " + " | ".join(kinds) + " |\n|---" * 1 + "|---" * len(kinds) + "|")
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for group in (examples, mixtures, data_sets):
            if a.only and group.__name__ != a.only:
                continue
            for problem, text in group(folder):
                if a.match not in problem:
                    continue
                cells = []
                for kind in kinds:
                    runs = [run(program, text, kind, seed, folder, a.seconds, a.chains) for seed in range(1, a.seeds + 1)]
                    figures.append({"problem": problem, "kind": kind, "runs": runs})
                    bad = [verdict for _, _, verdict in runs if verdict]
                    cells.append(f"{statistics.median(r[0] for r in runs):.2f} ({statistics.median(r[1] for r in runs):.1f})"
                                 + (f" {len(bad)} of {len(runs)}: {bad[0]}" if bad else ""))
                print(f"| {problem} | " + " | ".join(cells) + " |", flush=True)
                if a.json:
                    pathlib.Path(a.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()

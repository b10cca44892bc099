#!/usr/bin/env python3
"""Samples random easy mixtures with the default settings: how many runs does `emomc diagnose` accept, and are these
right?

A problem has K = 2 to 4 components in d = 1 to 3 columns, 200 to 1,000 rows and weights of at least 0.15; K is given
to the program. The separation of two components is the distance of their means divided by the larger of their
standard deviations in that direction. `--separation apart` (the default) draws problems whose least separation is 3
to 6, `overlapping` problems whose least separation is 1.5 to 2.5. With `--reference` the label-free means and
standard deviations of each run are compared with those of a longer run with another seed.

    bench/easy_mixtures.py build/release/bin/emomc --problems 100 --reference
    bench/easy_mixtures.py build/release/bin/emomc --problems 100 --separation overlapping

The exit code is 1 if fewer than `--least` of the problems pass, or if a mean or a standard deviation of a run that
passed is wrong. The script needs only Python.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

LEAST_WEIGHT = 0.15
MOST_MCSE = 5  # bound on the difference of two means, in combined MCSE
MOST_SD = 0.1  # relative difference of two standard deviations, if it exceeds MOST_MCSE of their own errors
RANGES = {"apart": (3.0, 6.0), "overlapping": (1.5, 2.5)}


def distance(a, b, sd_a, sd_b):
    """Returns the distance of two means, divided by the larger of the two standard deviations along their
    connection."""
    step = [y - x for x, y in zip(a, b)]
    length = math.sqrt(sum(s * s for s in step))
    if length == 0:
        return 0.0
    along = [math.sqrt(sum((s / length * w) ** 2 for s, w in zip(step, sd))) for sd in (sd_a, sd_b)]
    return length / max(along)


def draw_components(rng, num, dim, separation):
    """Returns means and standard deviations, drawn until the least separation is in the required range."""
    low, high = RANGES[separation]
    while True:
        width = high * num ** (1 / dim)
        means = [[rng.uniform(0, width) for _ in range(dim)] for _ in range(num)]
        sds = [[math.exp(rng.uniform(math.log(0.5), math.log(1.5))) for _ in range(dim)] for _ in range(num)]
        closest = min(distance(means[i], means[j], sds[i], sds[j]) for i in range(num) for j in range(i))
        if low <= closest <= high:
            return means, sds


def draw_weights(rng, num):
    """Returns weights with a uniform distribution on those that are all at least LEAST_WEIGHT."""
    shares = [rng.expovariate(1) for _ in range(num)]
    rest = 1 - num * LEAST_WEIGHT
    return [LEAST_WEIGHT + rest * share / sum(shares) for share in shares]


def make_problem(seed, separation):
    """Returns (K, rows) of a problem, which depend only on the two arguments."""
    rng = random.Random(f"{separation} {seed}")
    num, dim, rows = rng.randint(2, 4), rng.randint(1, 3), rng.randint(200, 1000)
    means, sds = draw_components(rng, num, dim, separation)
    weights = draw_weights(rng, num)
    scale = [10 ** rng.uniform(-1, 2) for _ in range(dim)]  # columns differ in their units
    data = []
    for _ in range(rows):
        k = rng.choices(range(num), weights)[0]
        data.append([scale[j] * rng.gauss(means[k][j], sds[k][j]) for j in range(dim)])
    return num, data


def run(program, arguments, folder, may_fail=False):
    result = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0 and not may_fail:
        sys.exit(f"{' '.join(arguments)} in {folder}: exit code {result.returncode}\n{result.stderr}")
    return result


def label_free(folder, run_name):
    """Returns {name: (mean, sd, mcse_mean, mcse_sd)} of the label-free quantities: all except parameters of
    components."""
    found = {}
    with open(folder / run_name / "summary.csv", newline="") as stream:
        for row in csv.DictReader(stream):
            name = row.get("name") or row.get("parameter")
            if name.split("[")[0] in ("weights", "means", "scales"):
                continue
            values = [float(row[key] or "nan") for key in ("mean", "sd", "mcse_mean", "mcse_sd")]
            if not any(math.isnan(v) for v in values):
                found[name] = values
    return found


def step_and_middle(quantities, column):
    """Returns the numbers that determine the points at which a run computed the densities of a column
    (density_grid of libsampler): the power of two nearest to the sd, and its multiple nearest to the mean."""
    mean, sd = (quantities[f"{name}[{column}]"][0] for name in ("mixture_mean", "mixture_sd"))
    step = 2.0 ** round(math.log2(sd))
    return step, round(mean / step)


def differences(is_, should):
    """Returns descriptions of the quantities whose mean or sd differs from that of the reference run. Densities of
    a column are left out if the two runs, whose means and sds differ by chance, were rounded to different
    points."""
    wrong = []
    for name, (mean, sd, mcse_mean, mcse_sd) in is_.items():
        if name not in should:
            continue
        if name.startswith("mixture_density["):
            column = name[len("mixture_density[") :].split(",")[0]
            if step_and_middle(is_, column) != step_and_middle(should, column):
                continue
        ref_mean, ref_sd, ref_mcse_mean, ref_mcse_sd = should[name]
        z = abs(mean - ref_mean) / max(math.hypot(mcse_mean, ref_mcse_mean), 1e-300)
        off = abs(sd / ref_sd - 1)
        if z > MOST_MCSE:
            wrong.append(f"mean of {name} off by {z:.1f} combined MCSE")
        if off > MOST_SD and abs(sd - ref_sd) > MOST_MCSE * math.hypot(mcse_sd, ref_mcse_sd):
            wrong.append(f"sd of {name} off by {100 * off:.0f} %")
    return wrong


def solve(job):
    """Runs one problem in a temporary folder and returns its figures."""
    args, seed = job
    num, data = make_problem(seed, args.separation)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with open(folder / "data.csv", "w") as stream:
            stream.write(",".join(f"x{j}" for j in range(len(data[0]))) + "\n")
            stream.writelines(",".join(f"{x:.9g}" for x in row) + "\n" for row in data)
        (folder / "run.yaml").write_text(
            f"data: {{file: data.csv}}\nlikelihood: {{components: {num}}}\nthreads: 1\nbackend: cpu\n"
        )
        settings = [word for text in args.set for word in ("--set", text)]
        began = time.monotonic()
        ran = run(args.program, ["run", "run.yaml", "--output", "run", "-q", "--seed", str(seed), *settings], folder)
        seconds = time.monotonic() - began
        verdict = run(args.program, ["diagnose", "run", "--json"], folder, may_fail=True)
        findings = json.loads(verdict.stdout)["findings"]
        summary = json.loads(run(args.program, ["summary", "run", "--json"], folder).stdout)
        wrong = []
        if args.reference:
            longer = ["--seed", str(seed + 1_000_000), "--set", "sampler.warmup=4000"]
            longer += ["--set", "sampler.draws=20000", "--set", f"sampler.thin={args.reference_thin}"]
            run(args.program, ["run", "run.yaml", "--output", "longer", "-q", *longer], folder)
            wrong = differences(label_free(folder, "run"), label_free(folder, "longer"))
        return {
            "seed": seed,
            "components": num,
            "columns": len(data[0]),
            "rows": len(data),
            "passed": verdict.returncode == 0,
            "draws": summary["draws"],
            "seconds": round(seconds, 2),
            "warning": ran.stderr.strip(),
            "problems": [f["text"] for f in findings if f["severity"] == "problem"],
            "wrong": wrong,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the emomc program")
    parser.add_argument("--problems", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--separation", choices=RANGES, default="apart")
    parser.add_argument("--least", type=float, default=0.93, help="share of the problems that must pass")
    parser.add_argument("--reference", action="store_true", help="compare with a longer run of each problem")
    parser.add_argument("--reference-thin", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE, to try other settings")
    parser.add_argument("--json", help="a file for what was found")
    args = parser.parse_args()
    args.program = str(pathlib.Path(args.program).resolve())

    seeds = range(args.first_seed, args.first_seed + args.problems)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = []
        for result in pool.map(solve, [(args, seed) for seed in seeds]):
            results.append(result)
            print(
                f"{result['seed']:5} K={result['components']} d={result['columns']} N={result['rows']:4} "
                f"{'passes' if result['passed'] else 'FAILS '} {result['draws']:6} draws {result['seconds']:7.2f} s  "
                + "; ".join(result["problems"] + result["wrong"]),
                flush=True,
            )
    passed = sum(result["passed"] for result in results)
    wrong = [result for result in results if result["passed"] and result["wrong"]]
    seconds = sorted(result["seconds"] for result in results)
    print(f"{args.separation}: {passed} of {len(results)} pass, {len(wrong)} of these are wrong")
    print(f"seconds: median {seconds[len(seconds) // 2]}, longest {seconds[-1]}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    return 1 if passed < args.least * len(results) or wrong else 0


if __name__ == "__main__":
    sys.exit(main())

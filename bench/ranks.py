#!/usr/bin/env python3
"""Measures the time of a run by the number of GPUs, or of processes, in alternating runs; draws are compared.

  bench/ranks.py EMOMC [--rows N] [--dim D] [--components K] [--chains C] [--draws S] [--thin T] [--repeat R]
                       [--proposal KIND,KIND,...] [--layout NAME]... [--out FILE]
  bench/ranks.py EMOMC --rows 3000 --dim 2 --components 3 --chains 28 --warmup 60 --draws 40 --thin 1 --repeat 1 \\
    --proposal component_wise,nuts,crank_nicolson,differential_evolution \\
    --layout gpus:1 --layout gpus:2 --layout mpi:2 --layout mpi:3 --layout mpi:4 --layout rows:2 \\
    --layout gpu-rows:2

A layout is `gpus:2` (GPUs of one process), `mpi:2` (processes of mpirun, on GPUs if there are any), `gpu-rows:2` and
`rows:2` (the same two with the rows divided instead of the chains) or `cpu:2` and `cpu-rows:2` (`mpi:2` and `rows:2`
with backend cpu). The first layout is the baseline. The script prints, for each proposal and layout, the median time
of sampling, its ratio to that of the baseline, and the share of the time in which rank 0 gathered segments of all
ranks. The exit code is 1 if chain files differ, or if a run fails or does not end.
"""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy


def write_data(folder, rows, dim, components):
    rng = numpy.random.default_rng(1)
    means = 4 * rng.standard_normal((components, dim))
    which = rng.integers(components, size=rows)
    values = (means[which] + rng.standard_normal((rows, dim))).astype(numpy.float32)
    with open(folder / "data.npy", "wb") as stream:
        numpy.save(stream, values)


def write_config(a, folder, proposal):
    (folder / "config.yaml").write_text(
        "data: {file: data.npy}\n"
        f"likelihood: {{components: {a.components}}}\n"
        f"sampler: {{chains: {a.chains}, warmup: {a.warmup}, draws: {a.draws}, thin: {a.thin},\n"
        f"  seed: 5, proposal: {{kind: {proposal}}}}}\n")


def run(a, folder, layout, number):
    """Returns the facts in the manifest of one run, or None if the run failed, which is printed."""
    kind, count = layout.split(":")
    output = folder / f"{kind}-{count}-{number}"
    command = [os.path.abspath(a.emomc), "run", "config.yaml", "--output", str(output), "-q", "--backend",
               "cpu" if kind.startswith("cpu") else "cuda"]
    if kind in ("gpus", "gpu-rows"):
        command += ["--set", f"devices=[{', '.join(str(i) for i in range(int(count)))}]"]
    else:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", count] + command
    if kind.endswith("rows"):
        command += ["--set", "shard=rows"]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=a.most_seconds)
    except subprocess.TimeoutExpired:
        print(f"{layout}: did not end in {a.most_seconds} s", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"{layout}: exit code {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
        return None
    manifest = json.loads((output / "manifest.json").read_text())
    digest = hashlib.sha256()
    for file in sorted((output / "chains").iterdir()):
        digest.update(file.read_bytes())
    seconds = manifest["seconds"]
    subprocess.run(["rm", "-rf", str(output)], check=True)
    return {"seconds": seconds["warmup"] + seconds["sampling"], "gathers": seconds.get("gathers", 0.0),
            "draws": digest.hexdigest(), "engine": manifest["engine"]}


def compare(a, folder, proposal, layouts):
    """Returns the results by layout, and whether all runs ended with equal draws."""
    write_config(a, folder, proposal)
    results, complete = {layout: [] for layout in layouts}, True
    for number in range(a.repeat):
        for layout in layouts:
            one = run(a, folder, layout, number)
            if one is None:
                complete = False
                continue
            results[layout].append(one)
            print(f"{proposal}, {layout}, run {number + 1} of {a.repeat}: {one['seconds']:.2f} s", file=sys.stderr)
    results = {layout: runs for layout, runs in results.items() if runs}
    if layouts[0] not in results:
        return results, False
    base = statistics.median(one["seconds"] for one in results[layouts[0]])
    print(f"{results[layouts[0]][0]['engine']}: {a.chains} chains, {a.rows} rows x {a.dim}, {a.components} components, "
          f"{proposal}, {a.warmup + a.draws * a.thin} steps")
    print(f"{'layout':>10} {'seconds':>8} {'spread':>7} {'times':>6} {'gathers':>8}")
    for layout, runs in results.items():
        seconds = [one["seconds"] for one in runs]
        middle = statistics.median(seconds)
        gathers = statistics.median(one["gathers"] / one["seconds"] for one in runs)
        print(f"{layout:>10} {middle:8.2f} {(max(seconds) - min(seconds)) / middle:7.1%} {base / middle:6.2f} {gathers:8.2%}")
    equal = len({one["draws"] for runs in results.values() for one in runs}) == 1
    print(("draws are equal" if equal else "DRAWS DIFFER") + ("" if complete else "; NOT ALL RUNS ENDED WELL"), flush=True)
    return results, equal and complete


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("emomc")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=13)
    parser.add_argument("--components", type=int, default=8)
    parser.add_argument("--chains", type=int, default=512)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--draws", type=int, default=1, help="few, since the time of their summary is not measured")
    parser.add_argument("--thin", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--proposal", default="component_wise", help="one or more, separated by commas")
    parser.add_argument("--layout", action="append", help="default: gpus:1 and gpus:2")
    parser.add_argument("--most-seconds", type=float, default=600, help="seconds after which a run counts as failed")
    parser.add_argument("--out", type=pathlib.Path)
    a = parser.parse_args()
    layouts = a.layout or ["gpus:1", "gpus:2"]
    kinds = ("gpus", "mpi", "gpu-rows", "rows", "cpu", "cpu-rows")
    for layout in layouts:
        kind, _, count = layout.partition(":")
        if kind not in kinds or not count.isdigit() or int(count) < 1:
            parser.error(f"--layout {layout}: allowed: {', '.join(kinds)}, a colon and a number")
    results, good = {}, True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder, a.rows, a.dim, a.components)
        for proposal in a.proposal.split(","):
            results[proposal], as_wanted = compare(a, folder, proposal, layouts)
            good = good and as_wanted
    if a.out:
        a.out.write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

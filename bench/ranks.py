#!/usr/bin/env python3
"""The time of a run by the number of GPUs, or of processes, in alternating runs; draws are compared.

  bench/ranks.py EMOMC [--rows N] [--dim D] [--components K] [--chains C] [--draws S] [--thin T] [--repeat R] [--proposal KIND]
                       [--layout NAME]... [--out FILE]

A layout is `gpus:1`, `gpus:2` (GPUs of one process), `mpi:2` (processes of mpirun, on GPUs where there are some) or
`cpu:2` (the same with backend cpu). The first one is the baseline. Prints, for each layout, the median time of sampling,
its ratio to the baseline's, and the share of the time in which rank 0 gathered segments of all ranks, and fails where
chain files differ.
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


def run(arguments, folder, layout, number):
    kind, count = layout.split(":")
    output = folder / f"{kind}-{count}-{number}"
    command = [arguments.emomc, "run", "config.yaml", "--output", str(output), "-q", "--backend",
               "cpu" if kind == "cpu" else "cuda"]
    if kind == "gpus":
        command += ["--set", f"devices=[{', '.join(str(i) for i in range(int(count)))}]"]
    else:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", count] + command
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{layout}: exit code {done.returncode}: {done.stderr}")
    manifest = json.loads((output / "manifest.json").read_text())
    digest = hashlib.sha256()
    for file in sorted((output / "chains").iterdir()):
        digest.update(file.read_bytes())
    seconds = manifest["seconds"]
    subprocess.run(["rm", "-rf", str(output)], check=True)
    return {"seconds": seconds["warmup"] + seconds["sampling"], "gathers": seconds.get("gathers", 0.0),
            "draws": digest.hexdigest(), "engine": manifest["engine"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("emomc")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=13)
    parser.add_argument("--components", type=int, default=8)
    parser.add_argument("--chains", type=int, default=512)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--draws", type=int, default=1, help="few, since their summary is not what is measured")
    parser.add_argument("--thin", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--proposal", default="component_wise")
    parser.add_argument("--layout", action="append", help="default: gpus:1 and gpus:2")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    layouts = arguments.layout or ["gpus:1", "gpus:2"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder, arguments.rows, arguments.dim, arguments.components)
        (folder / "config.yaml").write_text(
            "data: {file: data.npy}\n"
            f"likelihood: {{components: {arguments.components}}}\n"
            f"sampler: {{chains: {arguments.chains}, warmup: {arguments.warmup}, draws: {arguments.draws}, thin: {arguments.thin},\n"
            f"  seed: 5, proposal: {{kind: {arguments.proposal}}}}}\n")
        results = {layout: [] for layout in layouts}
        for number in range(arguments.repeat):
            for layout in layouts:
                results[layout].append(run(arguments, folder, layout, number))
                print(f"{layout}, run {number + 1} of {arguments.repeat}: {results[layout][-1]['seconds']:.2f} s", file=sys.stderr)
    draws = {one["draws"] for runs in results.values() for one in runs}
    base = statistics.median(one["seconds"] for one in results[layouts[0]])
    print(f"{results[layouts[0]][0]['engine']}: {arguments.chains} chains, {arguments.rows} rows x {arguments.dim}, "
          f"{arguments.components} components, {arguments.proposal}, {arguments.warmup + arguments.draws * arguments.thin} steps")
    print(f"{'layout':>8} {'seconds':>8} {'spread':>7} {'times':>6} {'gathers':>8}")
    for layout, runs in results.items():
        seconds = [one["seconds"] for one in runs]
        middle = statistics.median(seconds)
        gathers = statistics.median(one["gathers"] / one["seconds"] for one in runs)
        print(f"{layout:>8} {middle:8.2f} {(max(seconds) - min(seconds)) / middle:7.1%} {base / middle:6.2f} {gathers:8.2%}")
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    if len(draws) != 1:
        sys.exit("draws differ between layouts")
    print("draws are equal")


if __name__ == "__main__":
    main()

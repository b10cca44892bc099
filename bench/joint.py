#!/usr/bin/env python3
"""Makes the plot of docs/statistics.md: the difference between the distribution function of each quantity in Geweke's
joint test and that of independent pairs, with a panel for each proposal.

  bench/joint.py build/release/bin/test_libsampler [--broken KIND=PROGRAM ...] -o docs/images/geweke.svg

--broken names a program with a mutation, as scripts/mutation-check.py --leave makes it; its lines are red in the panel
of KIND.
"""
import argparse
import collections
import csv
import math
import os
import pathlib
import subprocess
import tempfile

KINDS = ("component_wise", "random_walk", "adaptive_metropolis", "delayed_rejection", "independence",
         "differential_evolution", "stretch", "split_merge", "crank_nicolson")
PANEL, GAP, LEFT, TOP, ACROSS, REACH = 160, 26, 60, 30, 5, 0.05
COLOURS = {"log": "#08306b", "parameter": "#6baed6"}


def curves(program, kind, suite):
    """Returns {quantity: [(p, share - p)]} and the number of chains, from the test of this kind of proposal on a
    mixture."""
    shape = {"component_wise": "diagonal_K2", "crank_nicolson": "diagonal_K2", "split_merge": "diagonal_K3"}.get(kind, "*_K2")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "joint.csv"
        # A program with a mutation fails the test.
        subprocess.run([program, f"--gtest_filter=*{suite}.*cpu_{kind}_{shape}"], env=dict(os.environ, EMOMC_JOINT_CSV=path),
                       stdout=subprocess.DEVNULL)
        lines, chains = collections.defaultdict(list), 0
        with open(path, newline="") as stream:
            for _, count, name, p, share in csv.reader(stream):
                lines[name].append((float(p), float(share) - float(p)))
                chains = int(count)
    return lines, chains


def path_of(points, x, y):
    place = [f"{x + p * PANEL:.1f} {y + PANEL / 2 - max(-REACH, min(REACH, d)) / REACH * PANEL / 2:.1f}" for p, d in points]
    return "M" + "L".join(place)


def panel(kind, index, lines, chains, broken):
    x, y = LEFT + index % ACROSS * (PANEL + GAP), TOP + index // ACROSS * (PANEL + 2 * GAP)
    # With one pair from each chain, 99.9 % of the shares below p are within this bound.
    band = [(i / 50, 3.29 * math.sqrt(i / 50 * (1 - i / 50) / chains)) for i in range(51)]
    edge = path_of(band, x, y) + "L" + path_of([(p, -d) for p, d in reversed(band)], x, y)[1:] + "Z"
    parts = [f'<rect x="{x}" y="{y}" width="{PANEL}" height="{PANEL}" fill="white" stroke="#bbb"/>',
             f'<path d="{edge}" fill="#eee"/>',
             f'<path d="M{x} {y + PANEL / 2}h{PANEL}" stroke="#999" stroke-dasharray="3 3"/>',
             f'<text x="{x}" y="{y - 6}" font-weight="bold">{kind}</text>']
    for name, points in (broken or {}).items():
        parts.append(f'<path d="{path_of(points, x, y)}" fill="none" stroke="#de2d26" stroke-width="0.7" opacity="0.6"/>')
    for name, points in lines.items():
        colour = COLOURS["log" if name.startswith("log") else "parameter"]
        parts.append(f'<path d="{path_of(points, x, y)}" fill="none" stroke="{colour}" stroke-width="0.9"/>')
    if index % ACROSS == 0:
        for d in (-REACH, 0, REACH):
            parts.append(f'<text x="{x - 6}" y="{y + PANEL / 2 - d / REACH * PANEL / 2 + 4}" text-anchor="end">{d:g}</text>')
    for p in (0, 0.5, 1):
        parts.append(f'<text x="{x + p * PANEL}" y="{y + PANEL + 15}" text-anchor="middle">{p:g}</text>')
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--broken", nargs="*", default=[], metavar="KIND=PROGRAM")
    parser.add_argument("--suite", default="JointLong", choices=["Joint", "JointLong"])
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    broken = dict(pair.split("=", 1) for pair in arguments.broken)
    width, height = LEFT + ACROSS * (PANEL + GAP), TOP + 2 * (PANEL + 2 * GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for index, kind in enumerate(KINDS):
        lines, chains = curves(arguments.program, kind, arguments.suite)
        wrong = curves(broken[kind], kind, arguments.suite)[0] if kind in broken else None
        parts += panel(kind, index, lines, chains, wrong)
    parts += [f'<text x="{LEFT}" y="{height - 6}">across: probability p of an independent pair; up: share of successive '
              'pairs below its quantile, less p; grey: 99.9 % for one pair of each chain</text>', "</svg>"]
    arguments.output.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()

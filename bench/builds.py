#!/usr/bin/env python3
"""Measures two builds of emomc on the same machine, in turns.

    bench/builds.py BEFORE AFTER --method cuda --rounds 3 [--json FILE]

BEFORE and AFTER are programs. Each row of the table is one result of `emomc bench`: the medians over rounds of both
programs, their ratio, and the spread of the rounds, which is the larger of the two programs' (largest - smallest) /
median. A row is marked if the second program is slower by more than 3 % beyond the spread.
"""
import argparse
import concurrent.futures
import json
import statistics
import subprocess
import sys
import time

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
MORE = 1.03


def cases(method):
    """Yields name, arguments of `emomc bench`, numbers of rows, and numbers of chains."""
    chains = (1, 16, 256) if method == "cuda" else (1, 4)
    yield "step", ["--proposal", "random_walk"], SIZES, chains
    yield "sweep", ["--proposal", "component_wise"], SIZES, chains
    yield "double", ["--proposal", "random_walk", "--precision", "double"], (1_000, 10_000, 100_000), chains
    for covariance in ("spherical", "tied", "full"):
        yield covariance, ["--covariance", covariance], (1_000, 100_000), (1, chains[-1])
    yield "two_gaussian", ["--model", "two_gaussian", "--precision", "double"], (10_000, 1_000_000), (1, chains[-1])
    if method == "cuda":
        yield "step", ["--proposal", "random_walk"], (5_316,), (1, 4, 64, 512)
        yield "sweep", ["--proposal", "component_wise"], (5_316,), (1, 4, 64, 512)


def bench(program, method, more, rows, chains, seconds):
    done = subprocess.run([program, "bench", "--json", "--method", method, "--rows", ",".join(map(str, rows)), "--chains",
                           ",".join(map(str, chains)), "--seconds", str(seconds), *more],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{program} bench: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2)
    parser.add_argument("--method", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--largest", type=float, default=1e6)
    parser.add_argument("--jobs", type=int, default=1, help="programs at once that compile kernels beforehand")
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no further measurement begins")
    parser.add_argument("--json")
    a = parser.parse_args()
    begin = time.monotonic()
    chosen = [(name, more, [n for n in rows if n <= a.largest], chains) for name, more, rows, chains in cases(a.method)
              if a.only in name and min(rows) <= a.largest]
    if a.jobs > 1:
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            list(pool.map(lambda w: bench(*w, 0.001), [(p, a.method, more, [n], [c]) for p in a.programs
                                                       for _, more, rows, chains in chosen for n in rows
                                                       for c in chains]))
    times = {}
    for _ in range(a.rounds):
        for name, more, rows, chains in chosen:
            if time.monotonic() - begin > a.budget:
                print(f"the budget of {a.budget:g} s is spent: {name} is measured fewer times", file=sys.stderr)
                break
            for which, program in enumerate(a.programs):
                for one in bench(program, a.method, more, rows, chains, a.seconds):
                    for figure in ("evaluation", "step"):
                        if name == "sweep" and figure == "evaluation":
                            continue
                        label = {"step": "sweep" if name == "sweep" else "step"}.get(figure, figure)
                        kind = "" if name in ("step", "sweep") else f"{name} "
                        key = f"{kind}{label} N={one['n']:,} chains={one['chains']}"
                        times.setdefault(key, ([], []))[which].append(one[f"microseconds_per_{figure}"])
    slower = 0
    print("| figure | before | after | ratio | spread |\n|---|---|---|---|---|")
    for key, (before, after) in times.items():
        first, second = statistics.median(before), statistics.median(after)
        spread = max((max(t) - min(t)) / statistics.median(t) for t in (before, after))
        mark = second / first > MORE + spread
        slower += mark
        print(f"| {key} | {first:.4g} | {second:.4g} | {second / first:.3f} | {spread:.3f} |{' slower' if mark else ''}")
    print(f"{len(times)} figures, {slower} slower by more than {MORE - 1:.0%} beyond the spread", file=sys.stderr)
    if a.json:
        with open(a.json, "w") as out:
            json.dump(times, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Measures the maximum-likelihood fit of two Gaussians with one mean, with standard errors: the whole of `emomc fit`,
and MIGRAD and HESSE of iminuit with a NumPy likelihood, in the same run, from reading the file to the estimates.

  python3 bench/fit_events.py [--emomc PATH] [--events 1000000] [--repeat 3]

The script prints the seconds of both programs, their ratio, and the differences of values and errors in units of the
errors. It needs numpy and iminuit.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--emomc", default="build/release/bin/emomc")
parser.add_argument("--events", type=int, default=1_000_000)
parser.add_argument("--repeat", type=int, default=3)
arguments = parser.parse_args()
peer = pathlib.Path(__file__).resolve().parent.parent / "tests/apps/data/two_gaussian_iminuit.py"

with tempfile.TemporaryDirectory() as folder:
    rng = np.random.default_rng(1)
    narrow = rng.random(arguments.events) < 0.7
    x = np.where(narrow, rng.normal(0.3, 0.8, arguments.events), rng.normal(0.3, 2.2, arguments.events))
    np.savetxt(f"{folder}/events.csv", x, header="x", comments="", fmt="%.9g")
    with open(f"{folder}/config.yaml", "w") as file:
        file.write(f"data: {{file: {folder}/events.csv}}\nlikelihood: {{model: two_gaussian}}\n")

    def timed(*command):
        began = time.perf_counter()
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return time.perf_counter() - began, out

    ours, theirs = [], []
    for _ in range(arguments.repeat):
        ours.append(timed(arguments.emomc, "fit", f"{folder}/config.yaml", "--json", "-q"))
        theirs.append(timed(sys.executable, str(peer), f"{folder}/events.csv"))
fit = json.loads(ours[0][1])
values = [fit["parameters"]["fraction"], fit["parameters"]["mean"], *fit["parameters"]["sigma"]]
errors = [fit["standard_errors"]["fraction"], fit["standard_errors"]["mean"], *fit["standard_errors"]["sigma"]]
their_values, their_errors = ([float(v) for v in line.split(",")] for line in theirs[0][1].splitlines())
our_time, their_time = min(o[0] for o in ours), min(t[0] for t in theirs)
print(f"emomc fit: {our_time:.2f} s; iminuit: {their_time:.2f} s; ratio {our_time / their_time:.2f}")
for name, v, e, tv, te in zip(("fraction", "mean", "sigma[0]", "sigma[1]"), values, errors, their_values, their_errors):
    print(f"{name}: {v:.6g} +- {e:.3g}; iminuit {tv:.6g} +- {te:.3g}; difference {(v - tv) / te:+.4f} errors, "
          f"errors differ by {100 * (e / te - 1):+.2f} %")

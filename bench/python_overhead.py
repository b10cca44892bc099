"""Measures the time of emomc.sample divided by that of `emomc run` for the same work.

  PYTHONPATH=build/release/python python3 bench/python_overhead.py [--emomc PATH] [--seconds 20] [--runs 11]

Rows are drawn from a mixture of 4 components in 5 columns. Both write a run directory with the same configuration; the
number of draws is chosen so that a run takes about --seconds. The two runs of a pair alternate in which goes first;
the first pair is not counted. Both are timed by the wall clock from the call to its return: the program with its start
and the reading of the data, Python without the import of the package. The draws are compared, bit for bit. The script
prints the median of the ratios of pairs, which should be at most 1.03, and the same for processor time, which other
work on the machine disturbs less. It writes all times with --json FILE. It needs numpy.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy as np

import emomc

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--emomc", default="build/release/bin/emomc")
parser.add_argument("--seconds", type=float, default=20.0)
parser.add_argument("--runs", type=int, default=11)
parser.add_argument("--rows", type=int, default=5000)
parser.add_argument("--backend", default="cpu")
parser.add_argument("--threads", type=int, default=0)
parser.add_argument("--json")
arguments = parser.parse_args()
K, d, WARMUP = 4, 5, 200
rng = np.random.default_rng(1)
x = rng.normal(0, 3, (K, d))[rng.integers(K, size=arguments.rows)] + rng.normal(size=(arguments.rows, d))
columns = {f"c{j}": x[:, j] for j in range(d)}
folder = pathlib.Path(tempfile.mkdtemp())
np.savetxt(folder / "x.csv", x, fmt="%.17g", delimiter=",", header=",".join(columns), comments="")


def moment():
    """Returns the seconds of the wall clock, and of processors for this process and its child processes."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return np.array([time.perf_counter(), own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime])


def by_program(name, draws):
    (folder / "run.yaml").write_text(
        f"data: {{file: x.csv}}\nlikelihood: {{components: {K}, covariance: diagonal}}\n"
        f"sampler: {{chains: 4, warmup: {WARMUP}, draws: {draws}, seed: 1, proposal: {{kind: component_wise}}}}\n"
        f"backend: {arguments.backend}\nthreads: {arguments.threads}\n")
    began = moment()
    subprocess.run([pathlib.Path(arguments.emomc).resolve(), "run", "run.yaml", "-q", "--output", name], cwd=folder,
                   check=True)
    return moment() - began


def by_python(name, draws):
    mixture = emomc.GaussianMixture(K, covariance_type="diag")
    began = moment()
    mixture.fit_posterior(columns, chains=4, warmup=WARMUP, draws=draws, seed=1, proposal="component_wise",
                          backend=arguments.backend, threads=arguments.threads, directory=folder / name, progress=False)
    return moment() - began


def same_draws(one, other):
    one, other = emomc.read_run(folder / one), emomc.read_run(folder / other)
    return all((one.chain(c)["theta"] == other.chain(c)["theta"]).all() for c in range(4))


draws = 50
while (seconds := by_program(f"tried-{draws}", draws)[0]) < arguments.seconds / 4:
    draws *= 2
draws = max(50, round(draws * arguments.seconds / seconds))
pairs = []
for i in range(arguments.runs + 1):
    order = [("program", by_program), ("python", by_python)]
    times = {name: run(f"{name}-{i}", draws) for name, run in (order if i % 2 == 0 else reversed(order))}
    if i > 0:
        pairs.append(times)
        (a, b), (c, e) = times["program"], times["python"]
        print(f"{i}: program {a:.2f} s ({b:.2f} of processors), python {c:.2f} s ({e:.2f})", flush=True)
ratio, of_processors = (float(np.median([pair["python"][j] / pair["program"][j] for pair in pairs])) for j in range(2))
same = same_draws(f"program-{arguments.runs}", f"python-{arguments.runs}")
print(f"median of {len(pairs)} ratios: {ratio:.4f}, of processor time {of_processors:.4f}; {draws} draws; the draws are {'the same' if same else 'NOT the same'}")
if arguments.json:
    pathlib.Path(arguments.json).write_text(json.dumps({
        "pairs": [{name: list(t) for name, t in pair.items()} for pair in pairs], "ratio": ratio,
        "ratio_of_processor_time": of_processors, "draws": draws, "same": same}))
raise SystemExit(0 if same and ratio <= 1.03 else 1)

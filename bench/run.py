#!/usr/bin/env python3
"""Makes the tables of docs/performance.md: emomc at all sizes, and each installed peer beside it, in one run.

    python3 bench/run.py [--emomc build/release/bin/emomc] [--json FILE] [--docs docs/performance.md]
    python3 bench/run.py --from FILE --docs docs/performance.md     # writes the page from an earlier run

Peers are scikit-learn, Numba and Stan (R's rstan, which takes a minute to compile); with a GPU also CuPy, JAX,
PyTorch, Numba and the float32 kernel that was emomc's first version. In each round everything is timed once, emomc and
peers in turn; the results are medians over rounds. --em adds rounds of EM (fit.py) and --ess 'Sad_*.csv' effective
draws per second compared with NumPyro (ess.py); both take minutes. The script never passes or fails because of a time.
It needs numpy.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # peers need memory too

SIZES, CHAINS = (100, 1_000, 10_000, 100_000, 1_000_000), (1, 16, 256)
FIGURES = {"evaluation": "microseconds_per_evaluation", "step": "microseconds_per_step",
           "two_gaussian": "microseconds_per_evaluation"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="least time of one measurement")
    parser.add_argument("--peers", help="some of them only, separated by commas")
    parser.add_argument("--largest", type=float, default=1e6, help="leave out larger problems")
    parser.add_argument("--em", action="store_true")
    parser.add_argument("--ess", metavar="DATA")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--from", dest="source", metavar="FILE")
    parser.add_argument("--docs", metavar="FILE", help="page whose marked section is written anew, with its plot")
    return parser.parse_args()


def program(a, *command):
    done = subprocess.run([a.emomc, *command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"emomc {command[0]}: {done.stderr}")
    return json.loads(done.stdout)


def bench(a, method, rows, chains, precision, *more):
    """Returns {(n, chains): figures} of `emomc bench`."""
    found = program(a, "bench", "--json", "--method", method, "--rows", ",".join(map(str, rows)), "--chains",
                    ",".join(map(str, chains)), "--precision", precision, "--seconds", str(a.seconds), *more)
    return {(one["n"], one["chains"]): one for one in found}


def time_one(run, seconds):
    """Returns the microseconds of one unit of work of `run`, repeated until it takes `seconds`."""
    count = 1
    while True:
        begin = time.perf_counter()
        run(count)
        taken = time.perf_counter() - begin
        if taken >= seconds:
            return 1e6 * taken / count / getattr(run, "steps", 1)
        count = max(count + 1, int(count * min(16, 1.2 * seconds / max(taken, 1e-9))))


def prepare(a, has_gpu):
    """Returns [(case, run)] of the installed peers, and {name: reason} of those that are missing."""
    from peers import MOST_ROWS_AND_CHAINS, PEERS

    ready, missing = [], {}
    for name, (make, work, precision, sizes, chains, on_gpu) in PEERS.items():
        if (on_gpu and not has_gpu) or (a.peers and name.split(",")[0] not in a.peers.split(",")):
            continue
        for n in sizes:
            for c in chains:
                if n > a.largest or n * c > MOST_ROWS_AND_CHAINS or name in missing:
                    continue
                try:
                    run = make(n, c)
                    run(1)  # compiles
                except Exception as error:  # any exception of a peer; the others continue
                    missing[name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
                    print(f"without {name}: {missing[name]}", file=sys.stderr)
                    continue
                ready.append(({"peer": name, "work": work, "precision": precision, "n": n, "chains": c,
                               "method": "cuda" if on_gpu else "cpu", "peer_times": [], "emomc_times": []}, run))
    return ready, missing


def one_round(a, methods, sizes, cases):
    for method in methods:
        rows = [n for n in SIZES if n <= a.largest]
        for key, figures in bench(a, method, rows, CHAINS if method == "cuda" else (1,), "mixed").items():
            place = sizes.setdefault((method, *key), {})
            for figure in ("evaluation", "step", "sweep"):
                place.setdefault(figure, []).append(figures["microseconds_per_" + figure])
    for case, run in cases:
        case["peer_times"].append(time_one(run, a.seconds) / case["chains"])
    # There is one process for each kind of comparison, since starting a process takes a second.
    for kind in sorted({(c["method"], c["work"], c["precision"]) for c, _ in cases}):
        method, work, precision = kind
        if method in methods and precision == "mixed" and work != "two_gaussian":
            for c in (c for c, _ in cases if (c["method"], c["work"], c["precision"]) == kind):
                c["emomc_times"].append(sizes[method, c["n"], c["chains"]][work][-1])
            continue
        alike = [c for c, _ in cases if (c["method"], c["work"], c["precision"]) == kind]
        found = bench(a, method, sorted({c["n"] for c in alike}), sorted({c["chains"] for c in alike}), precision,
                      *(("--model", "two_gaussian") if work == "two_gaussian" else ()))
        for c in alike:
            c["emomc_times"].append(found[c["n"], c["chains"]][FIGURES[work]])


def accuracy(a, method, n):
    """Returns errors of the log likelihood of n rows, in its own units."""
    import numpy as np
    from problem import log_likelihood, mixture

    weights, means, scales, x = mixture(n)
    exact = log_likelihood(weights, means, scales, x)
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), x)
        with open(os.path.join(folder, "p.json"), "w") as file:
            json.dump({"weights": weights.tolist(), "means": means.tolist(), "scales": scales.tolist()}, file)
        values = {f"emomc, {p}": program(a, "loglik", "--json", "--data", f"{folder}/x.npy", "--parameters",
                                         f"{folder}/p.json", "--backend", method, "--precision", p)["log_likelihood"]
                  for p in ("mixed", "double")}
    try:
        from peers_gpu import first_kernel_evaluation
        values["one thread a row"] = float(first_kernel_evaluation(n)())
    except Exception as error:
        print(f"emomc's first kernel by NumPy, not on a GPU: {error}", file=sys.stderr)
        values["one thread a row (its float32 arithmetic by NumPy)"] = log_likelihood(
            *(v.astype(np.float32) for v in (weights, means, scales, x)))
    return {"n": n, "exact": exact, "errors": {k: v - exact for k, v in values.items()}}


def measure(a):
    from machine import Clocks, describe

    devices = program(a, "devices", "--json")
    has_gpu = bool(devices["cuda"]["devices"])
    methods = ["cuda"] if has_gpu else ["cpu"]
    clocks, machine = Clocks(), describe(devices)
    clocks.start()
    cases, missing = prepare(a, has_gpu)
    sizes = {}
    for i in range(a.rounds):
        one_round(a, methods, sizes, cases)
        print(f"round {i + 1} of {a.rounds}", file=sys.stderr, flush=True)
        machine["clock_mhz"] = clocks.held()
        result = summary(machine, i + 1, missing, sizes, cases)
        write_json(a, result)
    clocks.stopped.set()
    result["accuracy"] = accuracy(a, methods[0], int(a.largest))
    return result


def summary(machine, rounds, missing, sizes, cases):
    median = statistics.median
    return {"machine": machine, "rounds": rounds, "missing": missing,
            "sizes": [{"method": m, "n": n, "chains": c, **{k: median(v) for k, v in figures.items()}}
                      for (m, n, c), figures in sizes.items()],
            "peers": [{**{k: v for k, v in c.items() if not k.endswith("_times")}, "peer": c["peer"],
                       "peer_us": median(c["peer_times"]), "emomc_us": median(c["emomc_times"]),
                       "ratio": median(p / e for p, e in zip(c["peer_times"], c["emomc_times"]))} for c, _ in cases]}


def write_json(a, result):
    if a.json:
        with open(a.json, "w") as file:
            json.dump(result, file, indent=1)


def also(a, script, *more):
    """Returns the results of another script, from its option --json."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), script), "--emomc", a.emomc, "--json",
                        file.name, *more], check=True)
        return json.load(file)


def main():
    a = arguments()
    if a.source:
        with open(a.source) as file:
            result = json.load(file)
    else:
        result = measure(a)
        method = "cuda" if "gpu" in result["machine"] else "cpu"
        if a.em:
            result["em"] = also(a, "fit.py", "--backends", "cpu", *(["cuda"] if method == "cuda" else []))
        if a.ess:
            result["ess"] = also(a, "ess.py", "--data", a.ess, "--backend", method)
    from page import section, write_page

    print(section(result))
    write_json(a, result)
    if a.docs:
        write_page(a.docs, result)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures likelihoods of the user's own beside Stan (R's rstan), one thread each, one chain, float64, in one run.

    bench/own_likelihoods_stan.py --emomc build/release/bin/emomc [--seconds 0.3] [--rounds 3] [--stan-cache DIR] [--json FILE]

The script prints microseconds of one evaluation of the likelihoods of own_likelihoods.py, as medians over rounds in
which the programs take turns:
  log_prob    the log density: Stan's log_prob(fit, u, adjust_transform = FALSE, gradient = FALSE), which keeps a tape
              for gradients although none is requested, beside emomc's value
  doubles     the log density once more, beside Stan's model with nothing to differentiate: generated quantities,
              which rstan evaluates in doubles
  gradient    value and gradient: log_prob(..., gradient = TRUE) beside emomc's
Each model of bench/stan is written in two ways, with Stan's densities of vectors and in the fastest way that we know
(its densities of generalised linear models; one term less for each row of the mixture). The faster one is the peer,
and the table names it. Stan's time includes its priors, those of two to fifty-one parameters beside 1e5 rows or more.
Stan is compiled with -O3 -march=native, which takes a minute for each model that --stan-cache does not have. The
values of both programs are compared. OMP_NUM_THREADS=1 and --threads 1 make both run in one thread."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from own_likelihoods import CASES, make, of_emomc
from stan_session import StanSession

WAYS = {"two_gaussians": {1: "log_mix", 2: "log1p_exp of a vector"},
        "poisson": {1: "poisson_log", 2: "poisson_log_glm"},
        "logistic": {1: "bernoulli_logit", 2: "bernoulli_logit_glm"}}


def stan_data(kind, data, form):
    if kind == "two_gaussians":
        return {"N": len(data), "x": data[:, 0], "form": form, "values": 1}
    return {"N": len(data), "K": data.shape[1] - 1, "x": data[:, :-1], "y": data[:, -1].astype(np.int32), "sd_a": 0.5,
            "sd_b": 0.5, "form": form, "values": 1}


def named(kind, theta):
    theta = theta.tolist()
    if kind == "two_gaussians":
        return {"f": theta[0], "m": theta[1], "s": theta[2:]}
    return {"a": theta[0], "b": theta[1:]}


def log_likelihood(emomc, folder, parameters):
    (folder / "theta.json").write_text(json.dumps(parameters))
    done = subprocess.run([emomc, "loglik", "--json", "--config", folder / "c.yaml", "--parameters", folder / "theta.json"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["log_likelihood"]


def measure(session, arguments, folder, kind, rows, columns):
    data, config, theta = make(kind, rows, columns)
    parameters = named(kind, theta)
    times, values = {}, {}
    for round_ in range(arguments.rounds):
        ours = of_emomc(arguments.emomc, folder, data, config, (1,), "double", "cpu", arguments.seconds, "--threads", "1")[1]
        times.setdefault(("emomc", "value"), []).append(ours["microseconds_per_evaluation"])
        times.setdefault(("emomc", "gradient"), []).append(ours["microseconds_per_gradient"])
        for form, way in WAYS[kind].items():
            session.load(stan_data(kind, data, form))
            for what in ("log_prob", "doubles", "gradient"):
                answer = session.timed(what, parameters, arguments.seconds)
                times.setdefault((way, what), []).append(1e6 * answer["seconds"])
                values[way, what] = answer["value"]
    expected = log_likelihood(arguments.emomc, folder, parameters)
    for (way, what), value in values.items():
        if what == "doubles" and not abs(value - expected) <= 1e-9 * abs(expected):
            sys.exit(f"{kind}, {way}: Stan's log likelihood is {value}, emomc's {expected}")
    times = {key: statistics.median(of) for key, of in times.items()}
    result = {"emomc": {"log_prob": times["emomc", "value"], "doubles": times["emomc", "value"],
                        "gradient": times["emomc", "gradient"]}, "Stan": {}, "all": {}}
    for what in ("log_prob", "doubles", "gradient"):
        best = min(WAYS[kind].values(), key=lambda way: times[way, what])
        result["Stan"][what] = {"way": best, "microseconds": times[best, what],
                                "ratio": times[best, what] / result["emomc"][what]}
        result["all"][what] = {way: times[way, what] for way in WAYS[kind].values()}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--seconds", type=float, default=0.3, help="least time of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stan-cache", default=None, help="folder that keeps compiled models")
    parser.add_argument("--only", help="two_gaussians, poisson or logistic")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    results = []
    print(f"{'likelihood, one thread':<34} {'what':<9} {'emomc':>9} {'Stan':>10} {'ratio':>6}  Stan's way (the other one)")
    with tempfile.TemporaryDirectory() as folder:
        cache, session, known = arguments.stan_cache or folder + "/stan", None, set()
        for name, kind, rows, columns, _, _ in CASES:
            name = name.replace("float32", "float64")
            if name in known or arguments.only not in (None, kind):
                continue
            if not known or results[-1]["kind"] != kind:
                session = StanSession(kind, cache)
            known.add(name)
            result = measure(session, arguments, pathlib.Path(folder), kind, rows, columns)
            results.append({"likelihood": name, "kind": kind, **result})
            for what, stan in result["Stan"].items():
                other = ", ".join(f"{way}: {time:.4g}" for way, time in result["all"][what].items() if way != stan["way"])
                print(f"{name:<34} {what:<9} {result['emomc'][what]:>9.4g} {stan['microseconds']:>10.4g} {stan['ratio']:>6.1f}"
                      f"  {stan['way']} ({other})", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures likelihoods of the user's own beside JAX on a GPU, or NumPy and Numba on the CPU, in one run.

    bench/own_likelihoods.py --emomc build/release/bin/emomc [--method cuda|cpu] [--seconds 0.3] [--json FILE]

The script prints microseconds per evaluation of one chain: the wall time of a batch divided by its chains, without
transfers. Peers that cannot be imported are left out and named. In JAX a likelihood is jit(vmap(f)); in NumPy chains
are evaluated one after the other; in Numba a parallel loop over rows (fastmath) evaluates each chain.
own_likelihoods_stan.py has the same likelihoods beside Stan."""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np


def covariates(rows, columns, rng):
    return rng.normal(size=(rows, columns)) / np.sqrt(columns)


def two_gaussians(rows, rng):
    x = np.where(rng.random(rows) < 0.7, rng.normal(0.3, 0.8, rows), rng.normal(0.3, 2.2, rows))
    config = """likelihood:
  parameters: {f: {support: unit_interval}, m: {}, s: {support: positive, shape: [2]}}
  log_density: "log_mix(f, normal_lpdf(x, m, s[0]), normal_lpdf(x, m, s[1]))"
prior: {f: {beta: {a: 2, b: 2}}, m: {normal: {mean: 0, sd: 1}}, s: {lognormal: {meanlog: 0, sdlog: 0.5}}}
"""
    return x[:, None], config, np.array([0.7, 0.3, 0.8, 2.2])


def regression(rows, columns, kind, rng):
    x = covariates(rows, columns, rng)
    b = rng.normal(size=columns)
    eta = 0.5 + x @ b
    y = rng.poisson(np.exp(eta)) if kind == "poisson" else rng.random(rows) < 1 / (1 + np.exp(-eta))
    names = ", ".join(f"c{j}" for j in range(columns))
    density = "poisson_log_lpmf" if kind == "poisson" else "bernoulli_logit_lpmf"
    config = f"""likelihood:
  linear: {{eta: {{intercept: a, columns: [{names}], coefficients: b}}}}
  log_density: "{density}(c{columns}, eta)"
prior: {{a: {{normal: {{mean: 0, sd: 0.5}}}}, b: {{normal: {{mean: 0, sd: 0.5}}}}}}
"""
    return np.column_stack([x, y]), config, np.concatenate([[0.4], 0.9 * b])


CASES = [  # name, kind, rows, columns, precision, chains
    ("two Gaussians, 1e6, float64", "two_gaussians", 1_000_000, 1, "double", (1, 16)),
    ("Poisson, 1e5, 10 covariates, float32", "poisson", 100_000, 10, "mixed", (1, 64)),
    ("Poisson, 1e6, 10 covariates, float32", "poisson", 1_000_000, 10, "mixed", (1, 64)),
    ("Poisson, 1e6, 10 covariates, float64", "poisson", 1_000_000, 10, "double", (1, 64)),
    ("logistic, 1e5, 50 covariates, float32", "logistic", 100_000, 50, "mixed", (1, 64)),
]


def make(kind, rows, columns):
    rng = np.random.default_rng(1)
    return two_gaussians(rows, rng) if kind == "two_gaussians" else regression(rows, columns, kind, rng)


def timed(run, finish, seconds):
    """Returns the seconds of one call; `finish` waits for the last one."""
    run()
    finish(run())
    n = 1
    while True:
        begin = time.perf_counter()
        for _ in range(n):
            last = run()
        finish(last)
        taken = time.perf_counter() - begin
        if taken > seconds:
            return taken / n
        n *= 2


def of_jax(kind, data, theta, chains, precision, seconds):
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import gammaln

    jax.config.update("jax_enable_x64", precision == "double")
    real = jnp.float64 if precision == "double" else jnp.float32
    table = jnp.asarray(data, real)
    batch = jnp.asarray(np.tile(theta, (chains, 1)), real)
    if kind == "two_gaussians":
        x = table[:, 0]

        def log_likelihood(t):
            def normal(s):
                return -0.5 * ((x - t[1]) / s) ** 2 - jnp.log(s) - 0.9189385332046727

            return jnp.sum(jnp.logaddexp(jnp.log(t[0]) + normal(t[2]), jnp.log1p(-t[0]) + normal(t[3])))
    else:
        x, y = table[:, :-1], table[:, -1]
        constant = jnp.sum(gammaln(y + 1))

        def log_likelihood(t):
            eta = t[0] + x @ t[1:]
            if kind == "poisson":
                return jnp.sum(y * eta - jnp.exp(eta)) - constant
            return jnp.sum(jax.nn.log_sigmoid((2 * y - 1) * eta))

    f = jax.jit(jax.vmap(log_likelihood))
    return 1e6 * timed(lambda: f(batch), lambda v: v.block_until_ready(), seconds) / chains


def of_numpy(kind, data, theta, chains, precision, seconds):
    from math import lgamma

    if kind == "two_gaussians":
        x = np.ascontiguousarray(data[:, 0])

        def log_likelihood(t):
            a = np.log(t[0]) - np.log(t[2]) - 0.9189385332046727 - 0.5 * ((x - t[1]) / t[2]) ** 2
            b = np.log1p(-t[0]) - np.log(t[3]) - 0.9189385332046727 - 0.5 * ((x - t[1]) / t[3]) ** 2
            return np.logaddexp(a, b).sum()
    else:
        x, y = np.ascontiguousarray(data[:, :-1]), np.ascontiguousarray(data[:, -1])
        constant = sum(lgamma(v + 1) for v in y)

        def log_likelihood(t):
            eta = t[0] + x @ t[1:]
            if kind == "poisson":
                return (y * eta - np.exp(eta)).sum() - constant
            return -np.logaddexp(0, -(2 * y - 1) * eta).sum()

    return 1e6 * timed(lambda: log_likelihood(theta), lambda v: v, seconds)


def of_numba(kind, data, theta, chains, precision, seconds):
    import math

    import numba

    if kind == "two_gaussians":
        x = np.ascontiguousarray(data[:, 0])

        @numba.njit(parallel=True, fastmath=True)
        def log_likelihood(t, x):
            total = 0.0
            a0 = math.log(t[0]) - math.log(t[2]) - 0.9189385332046727
            b0 = math.log1p(-t[0]) - math.log(t[3]) - 0.9189385332046727
            for i in numba.prange(x.size):
                a = a0 - 0.5 * ((x[i] - t[1]) / t[2]) ** 2
                b = b0 - 0.5 * ((x[i] - t[1]) / t[3]) ** 2
                high = max(a, b)
                total += high + math.log(math.exp(a - high) + math.exp(b - high))
            return total

        return 1e6 * timed(lambda: log_likelihood(theta, x), lambda v: v, seconds)
    x, y = np.ascontiguousarray(data[:, :-1]), np.ascontiguousarray(data[:, -1])
    poisson = kind == "poisson"

    @numba.njit(parallel=True, fastmath=True)
    def regression_likelihood(t, x, y):
        total = 0.0
        for i in numba.prange(y.size):
            eta = t[0]
            for j in range(x.shape[1]):
                eta += t[1 + j] * x[i, j]
            if poisson:
                total += y[i] * eta - math.exp(eta)
            else:
                total -= math.log1p(math.exp(-(2 * y[i] - 1) * eta))
        return total

    return 1e6 * timed(lambda: regression_likelihood(theta, x, y), lambda v: v, seconds)


def read_bandwidth(seconds):
    """Returns the GB/s at which the threads of emomc and of the peers could read rows from memory: a sum over 1 GB
    in parallel."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def total(x):
        s = 0.0
        for i in numba.prange(x.size):
            s += x[i]
        return s

    x = np.ones(1 << 27)
    return x.nbytes / timed(lambda: total(x), lambda v: v, seconds) / 1e9


def of_emomc(emomc, folder, data, config, chains, precision, method, seconds, *more):
    np.save(folder / "data.npy", data)
    (folder / "c.yaml").write_text(f"data: {{file: {folder}/data.npy}}\n"
                                   + config.replace("(x,", "(c0,").replace("linear:", "linear:"))
    out = subprocess.run([emomc, "bench", "--config", folder / "c.yaml", "--method", method, "--precision", precision,
                          "--chains", ",".join(map(str, chains)), "--seconds", str(seconds), "--json", *more],
                         check=True, capture_output=True, text=True).stdout
    return {r["chains"]: r for r in json.loads(out)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--method", choices=["cpu", "cuda"], default="cuda")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    peers = {"JAX": of_jax} if arguments.method == "cuda" else {"NumPy": of_numpy, "Numba": of_numba}
    for name, peer in list(peers.items()):
        try:
            __import__(name.lower())
        except ImportError:
            print(f"{name} cannot be imported and is left out")
            del peers[name]
    results = []
    print(f"{'likelihood':<40} {'chains':>6} {'emomc':>9}" + "".join(f" {p:>9} {'ratio':>6}" for p in peers))
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, rows, columns, precision, chains in CASES:
            if arguments.method == "cpu":
                precision, name = "double", name.replace("float32", "float64")
                if any(r["likelihood"] == name for r in results):
                    continue
            data, config, theta = make(kind, rows, columns)
            ours = of_emomc(arguments.emomc, pathlib.Path(folder), data, config, chains, precision, arguments.method,
                            arguments.seconds)
            for count in chains:
                result = {"likelihood": name, "chains": count, "emomc": ours[count]["microseconds_per_evaluation"],
                          "device": ours[count]["device"]}
                for peer, measure in peers.items():
                    result[peer] = measure(kind, data, theta, count, precision, arguments.seconds)
                results.append(result)
                print(f"{name:<40} {count:>6} {result['emomc']:>9.3g}"
                      + "".join(f" {result[p]:>9.3g} {result[p] / result['emomc']:>6.2f}" for p in peers), flush=True)
    print("device:", results[0]["device"])
    if "Numba" in peers:
        bandwidth = read_bandwidth(arguments.seconds)
        bytes_of_rows = {case[0].replace("float32", "float64"): 8 * case[2] * case[3] for case in CASES}
        print(f"memory is read at {bandwidth:.1f} GB/s, by a sum over 1 GB; one chain reads its covariates at")
        for result in results:
            if result["chains"] == 1:
                rate = bytes_of_rows[result["likelihood"]] / result["emomc"] / 1e3
                print(f"  {result['likelihood']:<40} {rate:6.1f} GB/s, {rate / bandwidth:.0%} of it")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures log likelihoods with their gradients beside JAX on a GPU, in one run.

    bench/gradients.py --emomc build/release/bin/emomc [--seconds 0.3] [--json FILE]

The script prints microseconds for value and gradient of one chain: the wall time of a batch divided by its chains,
without transfers. In JAX a likelihood is jit(vmap(value_and_grad(f))), in the same precision. `times` is emomc's ratio
of value and gradient to an evaluation alone."""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np

from own_likelihoods import make, of_emomc, timed

MIXTURES = [  # name, rows, chains
    ("mixture, K = 8, d = 13, 5,316 rows", 5_316, (64, 256)),
    ("mixture, K = 8, d = 13, 1e5 rows", 100_000, (1, 64)),
    ("mixture, K = 8, d = 13, 1e6 rows", 1_000_000, (1, 16)),
]
OWN = [  # name, kind, rows, columns, precision, chains
    ("Poisson, 1e5, 10 covariates, float32", "poisson", 100_000, 10, "mixed", (1, 64)),
    ("Poisson, 1e6, 10 covariates, float32", "poisson", 1_000_000, 10, "mixed", (1, 64)),
    ("logistic, 1e5, 50 covariates, float32", "logistic", 100_000, 50, "mixed", (1, 64)),
    ("logistic, 5e3, 50 covariates, float32", "logistic", 5_000, 50, "mixed", (64,)),
    ("two Gaussians as an expression, 1e6, float64", "two_gaussians", 1_000_000, 1, "double", (1, 16)),
]


def jax_gradient(log_likelihood, data, theta, chains, precision, seconds):
    import jax
    import jax.numpy as jnp

    real = jnp.float64 if precision == "double" else jnp.float32
    batch = jnp.asarray(np.tile(theta, (chains, 1)), real)
    # Data are arguments, because JAX would fold constants, which takes long.
    f = jax.jit(jax.vmap(jax.value_and_grad(log_likelihood), in_axes=(0, *[None] * len(data))))
    return 1e6 * timed(lambda: f(batch, *data), lambda v: v[1].block_until_ready(), seconds) / chains


def jax_mixture(rows, chains, seconds, components=8, columns=13):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", False)
    rng = np.random.default_rng(1)
    x = jnp.asarray(rng.normal(size=(rows, columns)), jnp.float32)
    K, d = components, columns
    theta = np.concatenate([np.full(K, 1 / K), rng.normal(size=K * d), rng.uniform(0.5, 1.5, K * d)])

    def log_likelihood(t, x):
        weights, means, scales = t[:K], t[K:K + K * d].reshape(K, d), t[K + K * d:].reshape(K, d)
        inverse = 1 / scales**2
        # (x - m)^2 / s^2 is computed by matrix products, which JAX does fastest.
        squares = x**2 @ inverse.T - 2 * (x @ (means * inverse).T) + jnp.sum(means**2 * inverse, 1)
        logs = jnp.log(weights) - jnp.sum(jnp.log(scales), 1) - 0.9189385332 * d - 0.5 * squares
        return jnp.sum(jax.nn.logsumexp(logs, axis=1))

    return jax_gradient(log_likelihood, (x,), theta, chains, "mixed", seconds)


def jax_own(kind, data, theta, chains, precision, seconds):
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import gammaln

    jax.config.update("jax_enable_x64", precision == "double")
    table = jnp.asarray(data, jnp.float64 if precision == "double" else jnp.float32)
    if kind == "two_gaussians":
        arrays = (table[:, 0],)

        def log_likelihood(t, x):
            def normal(s):
                return -0.5 * ((x - t[1]) / s) ** 2 - jnp.log(s) - 0.9189385332046727

            return jnp.sum(jnp.logaddexp(jnp.log(t[0]) + normal(t[2]), jnp.log1p(-t[0]) + normal(t[3])))
    else:
        arrays = (table[:, :-1], table[:, -1])
        constant = jnp.sum(gammaln(arrays[1] + 1))

        def log_likelihood(t, x, y):
            eta = t[0] + x @ t[1:]
            if kind == "poisson":
                return jnp.sum(y * eta - jnp.exp(eta)) - constant
            return jnp.sum(jax.nn.log_sigmoid((2 * y - 1) * eta))

    return jax_gradient(log_likelihood, arrays, theta, chains, precision, seconds)


def emomc_bench(emomc, seconds, chains, *more):
    out = subprocess.run([emomc, "bench", "--gradient", "--json", "--method", "cuda", "--seconds", str(seconds),
                          "--chains", ",".join(map(str, chains)), *more], check=True, capture_output=True,
                         text=True).stdout
    return {r["chains"]: r for r in json.loads(out)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--no-peer", action="store_true")
    arguments = parser.parse_args()
    has_peer = not arguments.no_peer
    try:
        if has_peer:
            import jax  # noqa: F401
    except ImportError:
        print("JAX cannot be imported and is left out")
        has_peer = False
    results = []
    print(f"{'likelihood':<46} {'chains':>6} {'value':>8} {'gradient':>8} {'times':>5}"
          + (f" {'JAX':>8} {'ratio':>6}" if has_peer else ""))

    def show(name, chains, ours, peer):
        value, gradient = ours["microseconds_per_evaluation"], ours["microseconds_per_gradient"]
        result = {"likelihood": name, "chains": chains, "evaluation": value, "gradient": gradient,
                  "device": ours["device"]}
        line = f"{name:<46} {chains:>6} {value:>8.3g} {gradient:>8.3g} {gradient / value:>5.2f}"
        if has_peer:
            result["JAX"] = peer()
            line += f" {result['JAX']:>8.3g} {result['JAX'] / gradient:>6.2f}"
        results.append(result)
        print(line, flush=True)

    for name, rows, chains in MIXTURES:
        if arguments.only not in name:
            continue
        ours = emomc_bench(arguments.emomc, arguments.seconds, chains, "--rows", str(rows))
        for count in chains:
            show(name, count, ours[count], lambda: jax_mixture(rows, count, arguments.seconds))
    two = "two Gaussians, 1e6, float64"
    if arguments.only in two:
        ours = emomc_bench(arguments.emomc, arguments.seconds, (1, 16), "--rows", "1000000", "--model", "two_gaussian",
                           "--precision", "double")
        data, _, theta = make("two_gaussians", 1_000_000, 1)
        for count in (1, 16):
            show(two, count, ours[count],
                 lambda: jax_own("two_gaussians", data, theta, count, "double", arguments.seconds))
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, rows, columns, precision, chains in OWN:
            if arguments.only not in name:
                continue
            data, config, theta = make(kind, rows, columns)
            ours = of_emomc(arguments.emomc, pathlib.Path(folder), data, config, chains, precision, "cuda",
                            arguments.seconds)
            for count in chains:
                show(name, count, ours[count],
                     lambda: jax_own(kind, data, theta, count, precision, arguments.seconds))
    if results:
        print("device:", results[0]["device"])
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""emomc beside scikit-learn (CPU) and JAX (GPU) in one run: time per evaluation of the log likelihood of a
diagonal Gaussian mixture (d = 13, K = 8), as ratios.

    bench/compare.py --emomc build/release/bin/emomc [--peers scikit-learn,jax] [--rows 10000,100000,1000000]

Peers that are not installed are left out. scikit-learn: GaussianMixture.score of one parameter vector.
jax: a jitted random walk Metropolis loop on the device (lax.fori_loop), float32, for 1 and 256 chains (vmap);
compared with emomc's Metropolis step. Each time is the best of three.
"""
import argparse
import json
import subprocess
import time

import numpy as np

D, K = 13, 8


def mixture(rng):
    weights = rng.dirichlet(np.full(K, 5.0))
    return weights, rng.uniform(-2.5, 2.5, (K, D)), rng.uniform(0.5, 1.3, (K, D))


def rows(rng, n, weights, means, scales):
    z = rng.choice(K, n, p=weights)
    return means[z] + scales[z] * rng.normal(size=(n, D))


def best_of(repeat, f):
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        f()
        times.append(time.perf_counter() - begin)
    return min(times)


def emomc(program, method, n, chains, precision):
    command = [program, "bench", "--json", "--method", method, "--rows", str(n), "--chains", str(chains),
               "--precision", precision, "--seconds", "0.3"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[0]


def scikit_learn(n):
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(1)
    weights, means, scales = mixture(rng)
    x = rows(rng, n, weights, means, scales)
    peer = GaussianMixture(K, covariance_type="diag")
    peer.weights_, peer.means_, peer.covariances_ = weights, means, scales**2
    peer.precisions_cholesky_ = 1 / scales
    peer.score(x)
    count = max(1, int(2e5 / n))
    return best_of(3, lambda: [peer.score(x) for _ in range(count)]) / count * 1e6


def jax_step(n, chains):
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(1)
    weights, means, scales = mixture(rng)
    x = jnp.asarray(rows(rng, n, weights, means, scales), jnp.float32)

    def log_likelihood(u):
        log_w = jax.nn.log_softmax(u[:K])
        m, log_s = u[K:K + K * D].reshape(K, D), u[K + K * D:].reshape(K, D)
        z = (x[:, None, :] - m) * jnp.exp(-log_s)
        terms = log_w - log_s.sum(1) - 0.5 * (z * z).sum(2)
        return jax.scipy.special.logsumexp(terms, axis=1).sum()

    def step(i, state):
        u, value, key = state
        key, a, b = jax.random.split(key, 3)
        candidate = u + 1e-3 * jax.random.normal(a, u.shape)
        there = jax.vmap(log_likelihood)(candidate)
        accept = jnp.log(jax.random.uniform(b, value.shape)) < there - value
        return jnp.where(accept[:, None], candidate, u), jnp.where(accept, there, value), key

    start = np.concatenate([np.log(weights), means.ravel(), np.log(scales).ravel()]).astype(np.float32)
    u = jnp.tile(start, (chains, 1))
    count = max(5, min(2000, int(2e9 / (n * chains))))
    loop = jax.jit(lambda u, v, k: jax.lax.fori_loop(0, count, step, (u, v, k)))
    value = jax.vmap(log_likelihood)(u)
    run = lambda: jax.block_until_ready(loop(u, value, jax.random.PRNGKey(0)))
    run()
    return best_of(3, run) / count / chains * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--peers", default="scikit-learn,jax")
    parser.add_argument("--rows", default="10000,100000,1000000")
    arguments = parser.parse_args()
    sizes = [int(float(n)) for n in arguments.rows.split(",")]
    line = "{:<22} {:>8} {:>7} {:>14} {:>14} {:>8}"
    print(line.format("peer", "n", "chains", "peer us", "emomc us", "ratio"))
    for peer in arguments.peers.split(","):
        for n in sizes:
            try:
                if peer == "scikit-learn":
                    theirs = scikit_learn(n)
                    for precision in ("double", "mixed"):
                        ours = emomc(arguments.emomc, "cpu", n, 1, precision)["microseconds_per_evaluation"]
                        print(line.format(f"{peer} ({precision})", n, 1, f"{theirs:.1f}", f"{ours:.1f}",
                                          f"{theirs / ours:.1f}"), flush=True)
                else:
                    for chains in (1, 256):
                        if n * chains > 3e7:
                            continue  # JAX would write n x K numbers per chain
                        theirs = jax_step(n, chains)
                        ours = emomc(arguments.emomc, "cuda", n, chains, "mixed")["microseconds_per_step"]
                        print(line.format(f"{peer} (mixed)", n, chains, f"{theirs:.2f}", f"{ours:.2f}",
                                          f"{theirs / ours:.1f}"), flush=True)
            except ImportError:
                print(f"{peer} is not installed")
                break


if __name__ == "__main__":
    main()

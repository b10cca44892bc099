"""Gradients of log likelihoods of mixtures by JAX; writes mixture_gradients.json next to this file. theta is in the layout
of the model, with lower Cholesky factors row by row, and all its elements are free. "size" is the sum over rows of the
absolute values of the rows' gradients.

Usage: python3 make_mixture_gradients.py   (numpy, jax)
"""
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln, logsumexp

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(20261128)


def log_normal(x, mean, scale):
    z = (x - mean) / scale
    return jnp.sum(-0.5 * z**2 - jnp.log(scale) - 0.5 * jnp.log(2 * jnp.pi), axis=-1)


def log_correlated(x, mean, L):
    z = jax.scipy.linalg.solve_triangular(L, x - mean, lower=True)
    return -0.5 * z @ z - jnp.log(jnp.diag(L)).sum() - 0.5 * len(x) * jnp.log(2 * jnp.pi)


def log_t(x, mean, scale, nu):
    d = len(x)
    q = jnp.sum(((x - mean) / scale) ** 2)
    return (gammaln((nu + d) / 2) - gammaln(nu / 2) - 0.5 * d * jnp.log(nu * jnp.pi) - jnp.log(scale).sum()
            - 0.5 * (nu + d) * jnp.log1p(q / nu))


def triangles(values, d):
    index = np.tril_indices(d)
    return jax.vmap(lambda v: jnp.zeros((d, d)).at[index].set(v))(values.reshape(-1, d * (d + 1) // 2))


def log_density(kind, K, d, theta, x):
    if kind == "two_gaussian":
        return logsumexp(jnp.array([jnp.log(theta[0]) + log_normal(x, theta[1], theta[2:3]),
                                    jnp.log1p(-theta[0]) + log_normal(x, theta[1], theta[3:4])]))
    w, m, rest = theta[:K], theta[K:K + K * d].reshape(K, d), theta[K + K * d:]
    if kind == "diagonal":
        terms = log_normal(x, m, rest.reshape(K, d))
    elif kind == "spherical":
        terms = log_normal(x, m, jnp.broadcast_to(rest[:, None], (K, d)))
    elif kind == "full":
        terms = jax.vmap(lambda mean, L: log_correlated(x, mean, L))(m, triangles(rest, d))
    elif kind == "tied":
        terms = jax.vmap(lambda mean: log_correlated(x, mean, triangles(rest, d)[0]))(m)
    else:
        terms = jax.vmap(lambda mean, s, nu: log_t(x, mean, s, nu))(m, rest[:K * d].reshape(K, d), rest[K * d:])
    return logsumexp(jnp.log(w) + terms)


cases = []
for kind in ("diagonal", "spherical", "full", "tied", "student_t", "two_gaussian"):
    shapes = [(1, 1), (2, 1), (3, 2), (5, 4), (8, 3), (17, 2), (2, 20)] if kind != "two_gaussian" else [(2, 1)] * 3
    for K, d in shapes:
        if kind == "two_gaussian":
            theta = [rng.uniform(0.05, 0.95), rng.normal(), *rng.uniform(0.2, 2, 2)]
        else:
            theta = [rng.dirichlet(np.full(K, 2.0)), rng.normal(0, 1.5, K * d)]
            if kind in ("full", "tied"):
                for _ in range(K if kind == "full" else 1):
                    L = np.tril(rng.normal(0, 0.4, (d, d)), -1) + np.diag(rng.uniform(0.3, 1.5, d))
                    theta.append(L[np.tril_indices(d)])
            else:
                theta.append(rng.uniform(0.3, 1.5, K if kind == "spherical" else K * d))
            if kind == "student_t":
                theta.append(np.exp(rng.uniform(np.log(0.5), np.log(100), K)))
            theta = np.concatenate(theta).tolist()
        theta = np.round(theta, 4)
        rows = rng.normal(0, 2, (9, d)).round(3)
        rows[4] *= 30  # far from all components
        gradients = jax.vmap(lambda x: jax.grad(lambda t: log_density(kind, K, d, t, x))(jnp.asarray(theta)))(
            jnp.asarray(rows))
        cases.append({"kind": kind, "components": K, "columns": d, "theta": theta.tolist(),
                      "rows": rows.reshape(-1).tolist(), "gradient": np.asarray(gradients.sum(0)).tolist(),
                      "size": np.asarray(jnp.abs(gradients).sum(0)).tolist()})
        assert np.isfinite(cases[-1]["gradient"]).all(), (kind, K, d)
path = pathlib.Path(__file__).with_name("mixture_gradients.json")
path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")

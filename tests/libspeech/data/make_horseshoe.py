"""Softmax regression with a regularised horseshoe prior, by JAX and NumPyro. Writes horseshoe.json, which softmax_horseshoe_test
reads: log densities and gradients at points, and moments of a posterior by NumPyro's NUTS, which samples the model in its own
coordinates. Needs jax, numpyro and scipy; minutes.

    make_horseshoe.py
"""
import json
import os

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import scipy.linalg
from jax.scipy import stats
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

numpyro.enable_x64()
numpyro.set_host_device_count(2)
SLAB_DF, INTERCEPT_SD = 4.0, 5.0
CHAINS, WARMUP, DRAWS = 8, 2000, 20000


def noise():
    """Yields the numbers of synthetic_voice.hpp."""
    state = 1
    while True:
        state = (state * 1664525 + 1013904223) % 2**32
        yield state / 2**32 - 0.5


def problem(rows, columns, classes):
    """Returns rows, of which the first column tells classes apart and the last one is 1; the classes; and the
    weight of each row."""
    numbers = noise()
    x, truth = np.ones((rows, columns + 1)), np.arange(rows) % classes
    for i in range(rows):
        for j in range(columns):
            x[i, j] = 3 * next(numbers)
        x[i, 0] += 0.8 * (truth[i] - (classes - 1) / 2)
    return x, truth, np.where(truth == 1, 1.5, 1.0)


def contrasts(classes):
    """Returns Helmert's contrasts [classes x (classes - 1)]."""
    return -scipy.linalg.helmert(classes).T


def log_likelihood(weights, x, truth, count):
    logs = jax.nn.log_softmax(x @ weights @ contrasts(truth.max() + 1).T, axis=1)
    return (count * logs[np.arange(len(truth)), truth]).sum()


def weight_sds(local, tau, c2):
    """Returns tau lambda~ of Piironen and Vehtari (2017), equation 2.8."""
    return tau * jnp.sqrt(c2 * local**2 / (c2 + tau**2 * local**2))


def log_density(point, x, truth, count, tau0, slab):
    """Returns the log density at a point: normal numbers, column by column, and logs of scales in units of their
    priors."""
    d, m = x.shape[1], int(truth.max())
    z = point[:d * m].reshape(m, d).T
    logs = point[d * m:]
    local, tau, c2 = jnp.exp(logs[:d - 1]), tau0 * jnp.exp(logs[d - 1]), (slab * jnp.exp(logs[d]))**2
    sds = jnp.append(weight_sds(local, tau, c2), INTERCEPT_SD)
    # The Jacobian of an exponential is the variable; c2 changes twice as fast as log c.
    prior = (stats.norm.logpdf(z).sum() + (stats.cauchy.logpdf(local) + jnp.log(local)).sum()
             + stats.cauchy.logpdf(tau, scale=tau0) + jnp.log(tau)
             + stats.gamma.logpdf(1 / c2, SLAB_DF / 2, scale=2 / (SLAB_DF * slab**2)) - 2 * jnp.log(c2) + jnp.log(2 * c2))
    return log_likelihood(sds[:, None] * z, x, truth, count) + prior


def densities():
    x, truth, count = problem(40, 5, 4)
    tau0, slab = 0.3, 1.7
    numbers, points = noise(), []
    for spread in (0.5, 2.0, 4.0, 12.0):
        size = 6 * 3 + 5 + 2
        point = spread * np.array([next(numbers) for _ in range(size)])
        value, slope = jax.value_and_grad(log_density)(jnp.array(point), x, truth, count, tau0, slab)
        points.append({"spread": spread, "log_density": float(value), "gradient": [float(g) for g in slope]})
    return {"rows": 40, "columns": 5, "classes": 4, "global_scale": tau0, "slab_scale": slab, "points": points}


def posterior():
    rows, columns, classes, tau0, slab = 60, 6, 3, 0.2, 1.5
    x, truth, count = problem(rows, columns, classes)

    def model():
        tau = numpyro.sample("tau", dist.HalfCauchy(tau0))
        local = numpyro.sample("local", dist.HalfCauchy(jnp.ones(columns)))
        c2 = numpyro.sample("c2", dist.InverseGamma(SLAB_DF / 2, SLAB_DF / 2 * slab**2))
        z = numpyro.sample("z", dist.Normal(jnp.zeros((columns, classes - 1)), 1).to_event(2))
        b = numpyro.sample("b", dist.Normal(jnp.zeros(classes - 1), INTERCEPT_SD).to_event(1))
        sds = numpyro.deterministic("sds", weight_sds(local, tau, c2))
        weights = numpyro.deterministic("weights", jnp.vstack([sds[:, None] * z, b]))
        numpyro.factor("rows", log_likelihood(weights, x, truth, count))

    kernel = numpyro.infer.NUTS(model, target_accept_prob=0.97)
    mcmc = numpyro.infer.MCMC(kernel, num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS, chain_method="parallel" if
                              jax.local_device_count() >= CHAINS else "sequential", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(1))
    draws = {name: np.asarray(v) for name, v in mcmc.get_samples(group_by_chain=True).items()}
    by_class = draws["weights"] @ contrasts(classes).T
    quantities = {}
    for j in range(columns + 1):
        for k in range(classes):
            quantities[f"weight {j} {k}"] = by_class[..., j, k]
    for j in range(columns):
        quantities[f"log sd {j}"] = np.log(draws["sds"][..., j])
    quantities["log tau"] = np.log(draws["tau"])
    quantities["log c"] = 0.5 * np.log(draws["c2"])
    found = {}
    for name, values in quantities.items():
        n = float(effective_sample_size(values))
        found[name] = {"mean": float(values.mean()), "sd": float(values.std()), "mcse": float(values.std() / np.sqrt(n)),
                       "effective": round(n), "rhat": float(split_gelman_rubin(values))}
    divergent = int(mcmc.get_extra_fields()["diverging"].sum())
    return {"rows": rows, "columns": columns, "classes": classes, "global_scale": tau0, "slab_scale": slab,
            "numpyro": numpyro.__version__, "chains": CHAINS, "draws": DRAWS, "divergent": divergent, "quantities": found}


def main():
    result = {"densities": densities(), "posterior": posterior()}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "horseshoe.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=0)
        file.write("\n")


main()

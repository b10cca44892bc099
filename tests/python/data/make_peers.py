#!/usr/bin/env python3
"""Writes peers.json: the posterior of a mixture for Old Faithful's eruptions, sampled by NumPyro and by PyMC.

  make_peers.py [numpyro] [pymc]    both, where none is named; needs them and ArviZ 0.x

The model: 272 rows z of two columns, each with mean 0 and standard deviation 1 (that of the population);
w ~ Dirichlet(20, 20); of each component means ~ Normal(0, 0.1), scales ~ HalfNormal(0.05), correlations ~ LKJ(60);
z ~ sum of w_k N(z | mean_k, diag(scales_k) R_k diag(scales_k)). Priors are this narrow so that the posterior shows a mistake
in them: 2 % of the means' sd are 10 Monte Carlo standard errors. Written are quantities that do not depend on labels:
the log likelihood, the larger weight, and the mean and the standard deviation of each column under the mixture, each with
mean, Monte Carlo standard error (Vehtari and others 2021), effective sample size and R-hat.
"""

import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
CHAINS, WARMUP, DRAWS, SEED = 4, 1000, 2500, 20261127
START = np.array([[-1.2, -1.2], [0.7, 0.7]])  # the two clusters


def columns():
    x = np.loadtxt(HERE.parents[1] / "apps/data/faithful.csv", delimiter=",", skiprows=1)
    return (x - x.mean(axis=0)) / x.std(axis=0)


def label_free(z, w, means, cholesky):
    """Returns quantities [chains x draws] of weights [chains x draws x 2], means [... x 2 x 2] and Cholesky
    factors."""
    deviation = z[:, None, None, None, :, None] - means[None, ..., None]  # rows x chains x draws x components x 2 x 1
    solved = np.linalg.solve(cholesky[None], deviation)[..., 0]
    log_det = np.log(np.diagonal(cholesky, axis1=-2, axis2=-1)).sum(axis=-1)
    terms = np.log(w) - log_det - 0.5 * (solved**2).sum(axis=-1) - np.log(2 * np.pi)
    covariance = cholesky @ np.swapaxes(cholesky, -1, -2)
    mean = (w[..., None] * means).sum(axis=-2)
    variance = np.diagonal(covariance, axis1=-2, axis2=-1) + means**2
    sd = np.sqrt((w[..., None] * variance).sum(axis=-2) - mean**2)
    return {
        "log_likelihood": np.logaddexp.reduce(terms, axis=-1).sum(axis=0),
        "sorted_weights[0]": w.max(axis=-1),
        "mixture_mean[0]": mean[..., 0],
        "mixture_mean[1]": mean[..., 1],
        "mixture_sd[0]": sd[..., 0],
        "mixture_sd[1]": sd[..., 1],
    }


def by_numpyro(z):
    import jax
    import numpyro
    import numpyro.distributions as dist

    numpyro.enable_x64()
    numpyro.set_host_device_count(2)

    def model():
        w = numpyro.sample("w", dist.Dirichlet(np.full(2, 20.0)))
        means = numpyro.sample("means", dist.Normal(0, 0.1).expand([2, 2]).to_event(2))
        scales = numpyro.sample("scales", dist.HalfNormal(0.05).expand([2, 2]).to_event(2))
        with numpyro.plate("components", 2):
            factor = numpyro.sample("factor", dist.LKJCholesky(2, concentration=60.0))
        cholesky = numpyro.deterministic("cholesky", scales[..., None] * factor)
        mixture = dist.MixtureSameFamily(dist.Categorical(probs=w), dist.MultivariateNormal(means, scale_tril=cholesky))
        numpyro.sample("z", mixture, obs=z)

    start = numpyro.infer.init_to_value(values={"means": START, "w": np.array([0.4, 0.6]), "scales": np.full((2, 2), 0.3)})
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model, init_strategy=start),
        num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS, chain_method="sequential", progress_bar=False,
    )
    sampler.run(jax.random.PRNGKey(SEED))
    draws = {name: np.asarray(value) for name, value in sampler.get_samples(group_by_chain=True).items()}
    return draws["w"], draws["means"], draws["cholesky"], numpyro.__version__


def by_pymc(z):
    import pymc as pm

    with pm.Model():
        w = pm.Dirichlet("w", np.full(2, 20.0))
        means = pm.Normal("means", 0, 0.1, shape=(2, 2))
        parts = []
        for k in range(2):
            cholesky, _, _ = pm.LKJCholeskyCov(f"c{k}", n=2, eta=60, sd_dist=pm.HalfNormal.dist(0.05, shape=2))
            pm.Deterministic(f"cholesky{k}", cholesky)
            parts.append(pm.MvNormal.dist(mu=means[k], chol=cholesky))
        pm.Mixture("z", w=w, comp_dists=parts, observed=z)
        run = pm.sample(
            draws=DRAWS, tune=WARMUP, chains=CHAINS, cores=2, random_seed=SEED, progressbar=False, target_accept=0.9,
            initvals={"means": START, "w": np.array([0.4, 0.6])}, compute_convergence_checks=False,
        )
    posterior = run.posterior
    cholesky = np.stack([posterior[f"cholesky{k}"].values for k in range(2)], axis=2)
    return posterior["w"].values, posterior["means"].values, cholesky, pm.__version__


def summary(values):
    import arviz

    data = arviz.convert_to_dataset({"x": values})
    return {
        "mean": float(values.mean()),
        "mcse": float(arviz.mcse(data)["x"]),
        "ess": float(arviz.ess(data)["x"]),
        "rhat": float(arviz.rhat(data)["x"]),
    }


def main():
    z = columns()
    samplers = {"numpyro": by_numpyro, "pymc": by_pymc}
    names = sys.argv[1:] or list(samplers)
    if unknown := set(names) - set(samplers):
        sys.exit(f"{', '.join(sorted(unknown))}: allowed: {', '.join(samplers)}")
    for name in names:
        *draws, version = samplers[name](z)
        quantities = {key: summary(values) for key, values in label_free(z, *draws).items()}
        worst = max(row["rhat"] for row in quantities.values())
        if worst > 1.01:
            sys.exit(f"{name}: R-hat {worst:.3f}; allowed: 1.01")
        file = HERE / "peers.json"
        found = json.loads(file.read_text()) if file.exists() else {}
        found[name] = {"version": version, "chains": CHAINS, "draws": DRAWS, "seed": SEED, "quantities": quantities}
        file.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")
        print(f"{name} {version}: R-hat at most {worst:.4f}", flush=True)


if __name__ == "__main__":
    main()

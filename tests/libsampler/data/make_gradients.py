"""Gradients of log densities of unconstrained coordinates by JAX; writes gradients.json next to this file. Transforms
and densities are written by their definitions: the log Jacobian is that of JAX's Jacobian matrix, the density of a
correlation matrix is a power of its determinant. The likelihood is beta times a linear function of theta.

Usage: python3 make_gradients.py   (numpy, jax)
"""
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import stats

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(20261127)
SAMPLED = "sampled"
# The names and roles of the arguments that can be sampled.
ARGUMENTS = {"normal": ["mean", "sd"], "half_normal": ["sd"], "student_t": ["df", "mean", "scale"],
             "cauchy": ["location", "scale"], "lognormal": ["meanlog", "sdlog"], "gamma": ["shape", "rate"],
             "inverse_gamma": ["shape", "scale"], "exponential": ["rate"], "uniform": ["lower", "upper"],
             "beta": ["a", "b"], "dirichlet": ["a"], "lkj": ["eta"], "fixed": ["value"]}
LOCATIONS = {"mean", "location", "meanlog"}


def helmert(n):
    V = np.zeros((n, n - 1))
    for j in range(1, n):
        V[:j, j - 1] = 1 / np.sqrt(j * (j + 1))
        V[j, j - 1] = -j / np.sqrt(j * (j + 1))
    return V


def log_density_of(family, x, a, lower):
    """Returns the log density without constants, except for arguments that may be sampled, for which it includes
    the mass above `lower`."""
    if family in ("normal", "half_normal"):
        mean, sd = (0.0, a[0]) if family == "half_normal" else a
        mass = stats.norm.logsf(lower, mean, sd) if np.isfinite(lower) else 0.0
        return stats.norm.logpdf(x, mean, sd) - mass
    if family == "student_t":
        return stats.t.logpdf(x, a[0], a[1], a[2])
    if family == "cauchy":
        return stats.cauchy.logpdf(x, a[0], a[1])
    if family == "lognormal":
        mass = stats.norm.logsf(np.log(lower), a[0], a[1]) if lower > 0 else 0.0
        return stats.norm.logpdf(jnp.log(x), a[0], a[1]) - jnp.log(x) - mass
    if family == "gamma":
        return (a[0] - 1) * jnp.log(x) - a[1] * x
    if family == "inverse_gamma":
        return -(a[0] + 1) * jnp.log(x) - a[1] / x
    if family == "exponential":
        return jnp.log(a[0]) - a[0] * (x - max(lower, 0.0))
    if family == "beta":
        return (a[0] - 1) * jnp.log(x) + (a[1] - 1) * jnp.log1p(-x)
    if family == "dirichlet":
        return (a[0] - 1) * jnp.log(x)
    return 0.0 * x  # uniform, fixed


def factor_of(z, d):
    """Returns the Cholesky factor of a correlation matrix with partial correlations z, row by row."""
    rows, at = [], 0
    for i in range(d):
        rest, row = 1.0, []
        for j in range(i):
            row.append(z[at] * jnp.sqrt(rest))
            rest = rest * (1 - z[at] ** 2)
            at += 1
        rows.append(jnp.stack(row + [jnp.sqrt(rest) * jnp.ones(())] + [jnp.zeros(())] * (d - 1 - i)))
    return jnp.stack(rows)


class Walk:
    """Goes through u, and collects theta, the coordinates whose Jacobian counts, and the log prior."""

    def __init__(self, case, u):
        self.case, self.u, self.at = case, u, 0
        self.theta, self.coordinates, self.terms, self.values = [], [], [], {}

    def take(self, n):
        self.at += n
        return self.u[self.at - n:self.at]

    def prior(self, name, block, x):
        """Stores the prior of x, an array of the block's shape."""
        self.values[name] = (block, x)

    def block(self, block):
        name, support, shape = block["name"], block["support"], block["shape"]
        size = int(np.prod(shape)) if shape else 1
        floor = self.case["floor"] if block.get("is_scale") and support in ("positive", "covariance") else 0.0
        spec = self.case["priors"].get(name)
        if support == "covariance":
            return self.covariances(block, floor)
        if spec["family"] == "fixed":
            x = jnp.broadcast_to(jnp.asarray(spec["arguments"][0], float), shape).reshape(-1)
            self.theta.append(x)
            return self.prior(name, dict(block, floor=floor), x.reshape(shape))
        if support == "simplex":
            x = jax.nn.softmax(helmert(size) @ self.take(size - 1))
            self.coordinates.append(x[:-1])
        else:
            y = self.take(size)
            order = self.case["lists"].get(name)
            if name == self.case["order"]:
                grid = y.reshape(shape[0], -1)
                if support == "real":
                    first = jnp.cumsum(jnp.concatenate([grid[:1, 0], jnp.exp(grid[1:, 0])]))
                    x = grid.at[:, 0].set(first).reshape(-1)
                else:
                    first = jnp.cumsum(jnp.exp(grid[:, 0]))
                    x = floor + jnp.exp(grid).at[:, 0].set(first).reshape(-1)
            elif order:
                y = y[::-1] if order == "decreasing" else y
                if support == "positive":
                    x = floor + jnp.cumsum(jnp.exp(y))
                else:
                    x = jnp.cumsum(jnp.concatenate([y[:1], jnp.exp(y[1:])]))
                    x = jax.nn.sigmoid(x) if support == "unit_interval" else x
                x = x[::-1] if order == "decreasing" else x
            else:
                x = {"real": lambda: y, "positive": lambda: floor + jnp.exp(y),
                     "unit_interval": lambda: jax.nn.sigmoid(y)}[support]()
            self.coordinates.append(x)
        self.theta.append(x)
        self.prior(name, dict(block, floor=floor), x.reshape(shape))

    def covariances(self, block, floor):
        d = block["shape"][-1]
        count = int(np.prod(block["shape"][:-2]))
        scales, correlations = self.case["priors"]["scales"], self.case["priors"]["correlations"]
        all_scales = []
        for k in range(count):
            if scales["family"] == "fixed":
                s = jnp.broadcast_to(jnp.asarray(scales["arguments"][0], float), (d,))
            else:
                s = floor + jnp.exp(self.take(d))
                self.coordinates.append(s)
            if correlations["family"] == "fixed":
                L = jnp.linalg.cholesky(jnp.asarray(correlations["arguments"][0]))
            else:
                L = factor_of(jnp.tanh(self.take(d * (d - 1) // 2)), d)
                R = L @ L.T
                self.coordinates.append(R[np.tril_indices(d, -1)])
                self.terms.append((correlations["arguments"][0] - 1) * 2 * jnp.log(jnp.diag(L)).sum())
            self.theta.append((s[:, None] * L)[np.tril_indices(d)])
            all_scales.append(s)
        parts = dict(block, name="scales", shape=block["shape"][:-1], support="positive", floor=floor)
        self.prior("scales", parts, jnp.stack(all_scales).reshape(parts["shape"]))

    def log_prior(self):
        total = sum(self.terms)
        for name, (block, x) in self.values.items():
            spec = self.case["priors"][name]
            arguments = []
            for argument, value in zip(ARGUMENTS[spec["family"]], spec["arguments"]):
                # A sampled argument has one value for each column, which is the last axis.
                arguments.append(self.values[name + "." + argument][1] if value == SAMPLED
                                 else jnp.asarray(value, float))
            lower = -np.inf if block["support"] == "real" else block["floor"]
            total += jnp.sum(log_density_of(spec["family"], x, arguments, lower))
        return total


def walk_of(case, u):
    walk = Walk(case, u)
    blocks = list(case["blocks"])
    for block in case["blocks"]:
        parts = [block] if block["support"] != "covariance" else [
            dict(block, name="scales", shape=block["shape"][:-1])]
        for part in parts:
            spec = case["priors"].get(part["name"])
            for argument, value in zip(ARGUMENTS[spec["family"]], spec["arguments"]):
                if value == SAMPLED:
                    # The model's own blocks of one axis without columns have one argument for all elements.
                    shape = part["shape"][-1:] if part.get("has_columns") else []
                    blocks.append({"name": part["name"] + "." + argument, "shape": shape,
                                   "support": "real" if argument in LOCATIONS else "positive"})
    for block in blocks:
        walk.block(block)
    return walk


def log_density(case, u):
    walk = walk_of(case, u)
    theta = jnp.concatenate([jnp.ravel(t) for t in walk.theta])
    likelihood = jnp.asarray(case["likelihood"])
    jacobian = jax.jacfwd(lambda v: jnp.concatenate([jnp.ravel(c) for c in walk_of(case, v).coordinates]))(u)
    return (case["beta"] * theta[:len(likelihood)] @ likelihood + walk.log_prior()
            + jnp.linalg.slogdet(jacobian)[1])


def one(support, family, arguments, floor=0.0, shape=(3,), order=None, further=None):
    priors = {"x": {"family": family, "arguments": arguments}}
    priors.update(further or {})
    return {"blocks": [{"name": "x", "support": support, "shape": list(shape), "is_scale": True}], "priors": priors,
            "floor": floor, "order": "", "lists": {"x": order} if order else {}}


def mixture(K, d, order="", covariance=None, floor=0.05, **priors):
    """Returns a case of a mixture; `covariance` is None, "full" or "tied"."""
    blocks = [{"name": "weights", "support": "simplex", "shape": [K], "component_axis": 0},
              {"name": "means", "support": "real", "shape": [K, d], "component_axis": 0, "has_columns": True}]
    if covariance is None:
        blocks.append({"name": "scales", "support": "positive", "shape": [K, d], "is_scale": True, "component_axis": 0,
                       "has_columns": True})
    else:
        shape = [K, d, d] if covariance == "full" else [d, d]
        blocks.append({"name": "covariance", "support": "covariance", "shape": shape, "is_scale": True,
                       "has_columns": True, **({"component_axis": 0} if covariance == "full" else {})})
    all_priors = {"weights": ("dirichlet", [2.5]), "means": ("normal", [0.5, 2.0]), "scales": ("half_normal", [1.5])}
    if covariance:
        all_priors["correlations"] = ("lkj", [2.5])
    all_priors.update(priors)
    return {"blocks": blocks, "floor": floor, "order": order, "lists": {},
            "priors": {k.replace("__", "."): {"family": f, "arguments": a} for k, (f, a) in all_priors.items()}}


REAL, POSITIVE, UNIT = "real", "positive", "unit_interval"
cases = [
    one(REAL, "normal", [1, 2]), one(REAL, "student_t", [4, 1, 0.5]), one(REAL, "cauchy", [1, 2]),
    one(REAL, "uniform", [-50, 50]),
]
for floor in (0.0, 0.4):
    cases += [one(POSITIVE, family, arguments, floor) for family, arguments in [
        ("normal", [1, 0.7]), ("half_normal", [2]), ("student_t", [1.5, -3, 0.5]), ("cauchy", [0, 1]),
        ("lognormal", [-0.5, 0.8]), ("gamma", [2.5, 3]), ("gamma", [0.3, 3]), ("inverse_gamma", [2.5, 3]),
        ("exponential", [2]), ("uniform", [0.001, 3000])]]
cases += [one(UNIT, "beta", [2, 3]), one(UNIT, "beta", [0.05, 0.6]), one(UNIT, "uniform", [0, 1])]
for order in ("increasing", "decreasing"):
    cases += [one(REAL, "normal", [0.5, 2], shape=(4,), order=order),
              one(REAL, "student_t", [3, 0, 1], shape=(5,), order=order),
              one(POSITIVE, "gamma", [2, 1.5], shape=(4,), order=order),
              one(POSITIVE, "lognormal", [0.2, 1.5], 0.3, shape=(4,), order=order),
              one(POSITIVE, "half_normal", [2], shape=(1,), order=order),
              one(UNIT, "beta", [2, 3], shape=(4,), order=order),
              one(UNIT, "uniform", [0, 1], shape=(4,), order=order)]
arguments = {"x.mean": {"family": "normal", "arguments": [0.3, 2]},
             "x.location": {"family": "cauchy", "arguments": [0.3, 2]},
             "x.meanlog": {"family": "student_t", "arguments": [3, 0.3, 2]},
             "x.sd": {"family": "half_normal", "arguments": [1.5]},
             "x.sdlog": {"family": "gamma", "arguments": [2, 1.5]},
             "x.scale": {"family": "lognormal", "arguments": [0.1, 1.2]},
             "x.rate": {"family": "inverse_gamma", "arguments": [2, 1.2]}}


def sampled(support, family, values, floor=0.0, **more):
    names = ["x." + name for name, value in zip(ARGUMENTS[family], values) if value == SAMPLED]
    return one(support, family, values, floor, further={name: arguments[name] for name in names}, **more)


cases += [
    sampled(REAL, "normal", [SAMPLED, SAMPLED]), sampled(REAL, "student_t", [4, SAMPLED, SAMPLED]),
    sampled(REAL, "cauchy", [SAMPLED, SAMPLED]), sampled(REAL, "normal", [SAMPLED, 0.7], shape=(4,), order="decreasing"),
    sampled(REAL, "student_t", [2, 0.4, SAMPLED], shape=(4,), order="increasing"),
]
for floor in (0.0, 0.4):
    cases += [sampled(POSITIVE, "normal", [SAMPLED, SAMPLED], floor), sampled(POSITIVE, "half_normal", [SAMPLED], floor),
              sampled(POSITIVE, "lognormal", [SAMPLED, SAMPLED], floor), sampled(POSITIVE, "exponential", [SAMPLED], floor),
              sampled(POSITIVE, "lognormal", [SAMPLED, SAMPLED], floor, shape=(4,), order="increasing"),
              sampled(POSITIVE, "normal", [SAMPLED, SAMPLED], floor, shape=(4,), order="decreasing")]
hierarchy = dict(means=("normal", [SAMPLED, SAMPLED]), means__mean=("normal", [0.3, 2]),
                 means__sd=("half_normal", [1.5]), scales=("lognormal", [SAMPLED, 0.7]),
                 scales__meanlog=("normal", [-0.2, 1]))
tails = dict(means=("student_t", [4, SAMPLED, SAMPLED]), means__mean=("normal", [0.3, 2]),
             means__scale=("lognormal", [0, 1]), scales=("half_normal", [SAMPLED]), scales__sd=("exponential", [2]))
for covariance in (None, "full", "tied"):
    for K, d in ((1, 1), (3, 2), (2, 4)):
        cases += [mixture(K, d, covariance=covariance), mixture(K, d, covariance=covariance, **hierarchy),
                  mixture(K, d, covariance=covariance, **tails)]
cases += [
    mixture(4, 3, "means"), mixture(4, 3, "scales"), mixture(5, 1, "means", **hierarchy), mixture(4, 2, "means", "full"),
    mixture(17, 1), mixture(3, 2, weights=("dirichlet", [0.05])), mixture(3, 2, weights=("fixed", [[0.2, 0.5, 0.3]])),
    mixture(3, 2, means=("fixed", [0.4])), mixture(2, 3, covariance="full", correlations=("lkj", [0.7])),
    mixture(2, 3, covariance="full", scales=("fixed", [0.8])),
    mixture(2, 2, covariance="full", correlations=("fixed", [[[1, 0.6], [0.6, 1]]])),
    mixture(2, 2, covariance="full", correlations=("fixed", [[[1, 0.6], [0.6, 1]]]), scales=("fixed", [0.8])),
    mixture(2, 2, covariance="tied", **dict(hierarchy, means__mean=("fixed", [0.4]), scales__meanlog=("fixed", [0.1]))),
    mixture(2, 2, **dict(tails, scales__sd=("fixed", [1.3]))),
]
for i, case in enumerate(cases):
    case["beta"] = [1.0, 0.35][i % 2]
    case["likelihood"] = []
    n = walk_of(case, jnp.zeros(300)).at
    size = sum(int(np.prod(b["shape"])) if b["support"] != "covariance" else
               int(np.prod(b["shape"][:-1])) * (b["shape"][-1] + 1) // 2 for b in case["blocks"])
    case["likelihood"] = rng.normal(0, 3, size).round(3).tolist()
    case["u"] = rng.normal(0, 1.3, n).round(3).tolist()
    case["gradient"] = jax.grad(lambda u: log_density(case, u))(jnp.asarray(case["u"])).tolist()
    assert np.isfinite(case["gradient"]).all(), case
path = pathlib.Path(__file__).with_name("gradients.json")
path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")

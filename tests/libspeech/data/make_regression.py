"""Bayesian linear regression of numbers, each speaker left out in turn, and scores of numbers, from docs/regression.md.
Means are those of scikit-learn's Ridge; scales are computed in the dual form, with n x n matrices of recordings in place of
principal axes; densities, intervals and minima are SciPy's. Writes regression.json, which regression_evaluation_test and
regression_scores_test read. Needs numpy, scipy and scikit-learn.
"""
import json
import os

import numpy as np
from scipy import optimize, stats
from sklearn.linear_model import Ridge

SDS, SPEAKERS, TAKES, COLUMNS, TOLERANCE = [0.1, 0.5, 2.0, 8.0], "ABCD", 7, 30, 0.01


def predicted(x, y, new, sd):
    """Returns mean and scale of the Student's t with n - 1 degrees of freedom for each row of `new`."""
    n = len(x)
    mean = Ridge(alpha=1 / sd**2, fit_intercept=True, solver="svd").fit(x, y).predict(new)
    about, centred, other = x - x.mean(0), y - y.mean(), new - x.mean(0)
    marginal = np.eye(n) + sd**2 * about @ about.T
    noise = centred @ np.linalg.solve(marginal, centred) / (n - 1)
    cross = sd**2 * other @ about.T
    factor = 1 + 1 / n + sd**2 * np.sum(other**2, axis=1) - np.sum(cross * np.linalg.solve(marginal, cross.T).T, axis=1)
    return mean, np.sqrt(noise * factor)


def inner(x, y, speaker, train, sd):
    """Returns truth, mean, scale and degrees of freedom of the training speakers, with each of them left out in
    turn."""
    parts = []
    for s in train:
        others, own = np.isin(speaker, [t for t in train if t != s]), speaker == s
        mean, scale = predicted(x[others], y[others], x[own], sd)
        parts.append((y[own], mean, scale, np.full(own.sum(), others.sum() - 1)))
    return [np.concatenate(part) for part in zip(*parts)]


def density(truth, mean, scale, freedom, factor):
    return np.mean(stats.t.logpdf(truth, freedom, mean, factor * scale))


def chosen(x, y, speaker, train):
    """Returns the smallest sd whose log density is within TOLERANCE of the largest, with the factor of the scales."""
    found = []
    for sd in SDS:
        parts = inner(x, y, speaker, train, sd)
        best = optimize.minimize_scalar(lambda log_factor: -density(*parts, np.exp(log_factor)), bounds=(-2.7, 2.7),
                                        method="bounded", options={"xatol": 1e-10})
        found.append((sd, np.exp(best.x), -best.fun))
    most = max(f[2] for f in found)
    return next(f for f in found if f[2] >= most - TOLERANCE)


def ccc(truth, mean):
    return 2 * np.mean((truth - truth.mean()) * (mean - mean.mean())) / (
        truth.var() + mean.var() + (truth.mean() - mean.mean())**2)


def scores(truth, mean, scale, freedom, speaker):
    half = scale * stats.t.ppf(0.95, freedom)
    speakers = [ccc(truth[speaker == s], mean[speaker == s]) for s in np.unique(speaker)]
    return {"ccc": ccc(truth, mean), "mean_ccc_of_speakers": np.mean(speakers), "pearson": np.corrcoef(truth, mean)[0, 1],
            "rmse": np.sqrt(np.mean((truth - mean)**2)), "mae": np.mean(abs(truth - mean)),
            "coverage": np.mean(abs(truth - mean) <= half),
            "log_density": np.mean(stats.t.logpdf(truth, freedom, mean, scale))}


def scored(truth, mean, scale, freedom, speaker):
    """Returns the scores with their jackknife intervals over speakers, which are cut to the possible values of a
    score."""
    everything, without = scores(truth, mean, scale, freedom, speaker), []
    for s in np.unique(speaker):
        keep = speaker != s
        without.append(scores(truth[keep], mean[keep], scale[keep], freedom[keep], speaker[keep]))
    n, result = len(without), {}
    for name, value in everything.items():
        parts = np.array([w[name] for w in without])
        half = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * np.sum((parts - parts.mean())**2))
        least = {"coverage": 0, "rmse": 0, "mae": 0, "log_density": -np.inf}.get(name, -1)
        most = np.inf if name in ("rmse", "mae", "log_density") else 1
        result[name] = [value, max(least, value - half), min(most, value + half)]
    return result


def main():
    random = np.random.default_rng(11)
    speaker = np.repeat(list(SPEAKERS), TAKES)
    z = random.normal(size=(len(speaker), COLUMNS))
    table = z + 3 * random.normal(size=COLUMNS)
    for i, name in enumerate(SPEAKERS):
        table[speaker == name] = np.round((1 + i) * table[speaker == name] + 5 * i, 4)
    numbers = np.round(np.stack([3 + z[:, 0] - 0.5 * z[:, 1] + 0.4 * random.normal(size=len(speaker)),
                                 -20 + 4 * random.normal(size=len(speaker))], axis=1), 3)
    x = np.concatenate([(t - t.mean(0)) / t.std(0) for t in (table[speaker == s] for s in SPEAKERS)]) / np.sqrt(COLUMNS)
    folds = []
    for test in SPEAKERS:
        train = [s for s in SPEAKERS if s != test]
        others, own = speaker != test, speaker == test
        fold = {"test": test, "plain": [], "chosen": []}
        for d in range(2):
            y = numbers[:, d]
            plain = []
            for sd in SDS:
                mean, scale = predicted(x[others], y[others], x[own], sd)
                half = scale * stats.t.ppf(0.95, others.sum() - 1)
                plain.append({"sd": sd, "mean": mean.tolist(), "scale": scale.tolist(), "low": (mean - half).tolist(),
                              "log_density": stats.t.logpdf(y[own], others.sum() - 1, mean, scale).tolist()})
            fold["plain"].append(plain)
            sd, factor, log_density = chosen(x, y, speaker, train)
            fold["chosen"].append({"sd": sd, "factor": factor, "log_density": log_density})
        folds.append(fold)
    truth, who = random.normal(size=24), np.repeat(np.arange(4), 6)
    mean, scale, freedom = 0.6 * truth + 0.5 * random.normal(size=24) + 0.2, random.uniform(0.3, 1, 24), np.full(24, 7.0)
    result = {"speakers": speaker.tolist(), "table": table.tolist(), "numbers": numbers.tolist(), "folds": folds,
              "scores": {"truth": truth.tolist(), "mean": mean.tolist(), "scale": scale.tolist(), "freedom": 7,
                         "speaker": who.tolist(), "of": scored(truth, mean, scale, freedom, who)}}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "regression.json")
    with open(path, "w") as file:
        file.write(json.dumps(result).replace("], [", "],\n ["))


if __name__ == "__main__":
    main()

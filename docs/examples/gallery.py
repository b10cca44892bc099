#!/usr/bin/env python3
"""Runs the examples of docs/gallery.md with their defaults and draws their pictures.

  docs/examples/gallery.py [--emomc EMOMC] [--output FOLDER] [--only NAME...] [--set KEY=VALUE...]

It needs the Python package emomc and Matplotlib, and is started from the repository's root.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import emomc
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EXAMPLES = pathlib.Path("docs/examples/likelihoods")
DATA, FIT, OTHER = "#333333", "#2171b5", "#d95f02"


def table(name: str) -> dict[str, Floats]:
    """The columns of a file of docs/examples/likelihoods/data."""
    rows = np.genfromtxt(EXAMPLES / "data" / f"{name}.csv", delimiter=",", names=True)
    return {column: np.atleast_1d(rows[column]).astype(float) for column in rows.dtype.names}


class Fit:
    """Draws of all chains, one after the other: fit["b"] is draws x shape."""

    def __init__(self, draws: emomc.Draws) -> None:
        self._draws = draws

    def __getitem__(self, name: str) -> Floats:
        values = self._draws[name]
        return values.reshape((-1,) + values.shape[2:])

    def column(self, name: str) -> Floats:
        """A parameter without a shape as draws x 1, for functions of a grid."""
        return self[name][:, None]


def band(axes: Axes, x: Floats, curves: Floats, colour: str = FIT, label: str = "posterior, 90 %") -> None:
    """The mean over draws [draws x points], and the range from the 5 % to the 95 % quantile."""
    low, high = np.quantile(curves, [0.05, 0.95], axis=0)
    axes.fill_between(x, low, high, color=colour, alpha=0.3, linewidth=0, label=label)
    axes.plot(x, curves.mean(axis=0), color=colour)


def normal(x: Floats, mean: Floats, sd: Floats) -> Floats:
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))


def intervals(axes: Axes, places: Floats, draws: Floats, label: str) -> None:
    """Means and 90 % intervals of draws [draws x places] as horizontal bars."""
    mean = draws.mean(axis=0)
    errors = np.abs(np.quantile(draws, [0.05, 0.95], axis=0) - mean)
    axes.errorbar(mean, places, xerr=errors, fmt="o", color=FIT, markersize=4, label=label)


def two_gaussians(axes: Axes, fit: Fit) -> None:
    mass = table("events")["mass"]
    x = np.linspace(mass.min(), mass.max(), 300)
    share, mean = fit.column("f"), fit.column("m")
    core = share * normal(x, mean, fit.column("core"))
    wide = (1 - share) * normal(x, mean, fit.column("wide"))
    axes.hist(mass, bins=60, density=True, color="#cccccc", label="events")
    band(axes, x, core + wide)
    axes.plot(x, core.mean(axis=0), "--", color=OTHER, label="core")
    axes.plot(x, wide.mean(axis=0), ":", color=OTHER, label="tails")
    axes.set(xlabel="mass", ylabel="density")


def spectrum(axes: Axes, fit: Fit) -> None:
    """Events in bins of 1.5 beside the expected numbers."""
    bins = table("bins")
    middle, width = (bins["left"] + bins["right"]) / 2, 1.5
    x, events = np.linspace(100, 160, 300), bins["events"].sum()
    share, tau = fit.column("n"), fit.column("tau")
    # The part of the peak that is outside the window is below 1e-10 here.
    peak = share * normal(x, fit.column("m"), fit.column("s"))
    background = (1 - share) * np.exp(-(x - 100) / tau) / tau / (1 - np.exp(-60 / tau))
    axes.errorbar(middle, bins["events"], yerr=np.sqrt(bins["events"]), fmt=".", color=DATA, label="events in a bin")
    band(axes, x, events * width * (peak + background))
    axes.plot(x, events * width * background.mean(axis=0), "--", color=OTHER, label="background")
    axes.set(xlabel="mass", ylabel="events")


def poisson(axes: Axes, fit: Fit) -> None:
    data = table("claims")
    age = np.linspace(-1, 1, 100)
    for region, colour in ((0, FIT), (1, OTHER)):
        band(axes, age, np.exp(fit.column("a") + fit["b"][:, :1] * age + fit["b"][:, 1:] * region), colour,
             f"region {region}")
        edges = np.linspace(-1, 1, 6)
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            here = (data["region"] == region) & (data["age"] >= low) & (data["age"] < high)
            rate, years = data["claims"][here].sum(), data["years"][here].sum()
            axes.errorbar((low + high) / 2, rate / years, yerr=np.sqrt(rate) / years, fmt="o", color=colour)
    axes.set(xlabel="age, standardised", ylabel="claims a year")


def logistic(axes: Axes, fit: Fit) -> None:
    data = table("admissions")
    grade = np.linspace(-2, 2, 100)
    for test, colour in ((-1.0, OTHER), (1.0, FIT)):
        logit = fit.column("a") + fit["b"][:, :1] * grade + fit["b"][:, 1:] * test
        band(axes, grade, 1 / (1 + np.exp(-logit)), colour, f"test of {test:g}")
    jitter = np.random.default_rng(1).uniform(-0.03, 0.03, len(data["grade"]))
    axes.plot(data["grade"], data["admitted"] + jitter, ".", color=DATA, markersize=3, label="applicants")
    axes.set(xlabel="grade", ylabel="probability of admission")


def robust(axes: Axes, fit: Fit) -> None:
    data = table("stackloss")
    covariates = np.stack([data[name] for name in ("air_flow", "water_temperature", "acid")])
    line = fit.column("a") + fit["b"] @ covariates
    nu, rest = fit.column("degrees_of_freedom"), (data["loss"] - line) / fit.column("s")
    weight = ((nu + 1) / (nu + rest**2)).mean(axis=0)  # of a row in the regression, were it one of least squares
    errors = np.abs(np.quantile(line, [0.05, 0.95], axis=0) - line.mean(axis=0))
    axes.errorbar(line.mean(axis=0), data["loss"], xerr=errors, fmt="none", color=FIT, alpha=0.4)
    axes.scatter(line.mean(axis=0), data["loss"], s=40 * weight**2, color=FIT, label="days, smaller where they count less")
    ends = [data["loss"].min(), data["loss"].max()]
    axes.plot(ends, ends, color=DATA, linewidth=0.8)
    axes.set(xlabel="loss by the regression, 90 % interval", ylabel="loss")


def kaplan_meier(weeks: Floats, event: Floats) -> tuple[Floats, Floats]:
    """Kaplan and Meier's estimate of the share without an event (1958)."""
    times = np.unique(weeks[event == 1])
    at_risk = (weeks[:, None] >= times).sum(axis=0)
    died = ((weeks[:, None] == times) & (event[:, None] == 1)).sum(axis=0)
    return np.append(0, times), np.append(1, np.cumprod(1 - died / at_risk))


def survival(axes: Axes, fit: Fit) -> None:
    data = table("remission")
    weeks = np.linspace(0, 35, 150)
    for treated, colour, label in ((0, OTHER, "placebo"), (1, FIT, "treated")):
        scale = np.exp(fit.column("a") + fit["b"] * treated)
        band(axes, weeks, np.exp(-((weeks / scale) ** fit.column("shape"))), colour, label)
        group = data["treated"] == treated
        times, share = kaplan_meier(data["weeks"][group], data["event"][group])
        axes.step(np.append(times, 35), np.append(share, share[-1]), where="post", color=colour, linewidth=0.9)
    axes.set(xlabel="weeks", ylabel="share in remission (steps: Kaplan-Meier)")


def eight_schools(axes: Axes, fit: Fit) -> None:
    data = table("eight_schools")
    places = np.arange(8.0)
    axes.errorbar(data["effect"], places + 0.2, xerr=1.645 * data["error"], fmt="s", color="#999999", markersize=4,
                  label="measured, 90 %")
    intervals(axes, places - 0.1, fit["school_effect"], "posterior, 90 %")
    axes.axvline(fit["mu"].mean(), color=OTHER, linestyle="--", label="mean of schools")
    axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    axes.set(xlabel="effect of coaching", yticks=places, yticklabels=list("ABCDEFGH"), ylabel="school")


def hierarchical_logistic(axes: Axes, fit: Fit) -> None:
    data = table("patients")
    hospital = data["hospital"].astype(int)
    share = np.bincount(hospital, data["recovered"]) / np.bincount(hospital)
    probability = 1 / (1 + np.exp(-fit["alpha"]))
    order = np.argsort(share)
    mean = probability.mean(axis=0)
    errors = np.abs(np.quantile(probability, [0.05, 0.95], axis=0) - mean)
    axes.errorbar(np.arange(50), mean[order], yerr=errors[:, order], fmt="o", color=FIT, markersize=3,
                  label="posterior at dose 0, 90 %")
    axes.plot(np.arange(50), share[order], ".", color=DATA, label="share of the hospital's 30 patients")
    axes.set(xlabel="hospital, by its share", ylabel="recovered")


def von_mises(axes: Axes, fit: Fit) -> None:
    angle = np.mod(table("directions")["angle"], 2 * np.pi)
    x = np.linspace(0, 2 * np.pi, 300)
    kappa = fit["kappa"]

    def density(mean: Floats, concentration: Floats) -> Floats:
        return np.exp(concentration * np.cos(x - mean)) / (2 * np.pi * np.i0(concentration))

    share, mean = fit.column("f"), fit.column("mu")
    curves = share * density(mean, kappa[:, :1]) + (1 - share) * density(mean + fit.column("apart"), kappa[:, 1:])
    axes.hist(np.degrees(angle), bins=36, density=True, color="#cccccc", label="turtles")
    band(axes, np.degrees(x), np.radians(1) * curves)
    axes.set(xlabel="direction in degrees", ylabel="density", xticks=range(0, 361, 60))


def zero_inflated(axes: Axes, fit: Fit) -> None:
    data = table("fish")
    random = np.random.default_rng(1)
    chosen = random.choice(len(fit["zero"]), 400)
    mean = np.exp(fit["a"][chosen, None] + fit["b"][chosen] @ np.stack([data["hours"], data["people"]]))
    counts = np.where(random.random(mean.shape) < fit["zero"][chosen, None], 0, random.poisson(mean))
    numbers = np.arange(12)
    replicates = (counts[:, :, None] == numbers).sum(axis=1)
    low, high = np.quantile(replicates, [0.05, 0.95], axis=0)
    axes.bar(numbers, (data["count"][:, None] == numbers).sum(axis=0), color="#cccccc", label="visitors")
    axes.errorbar(numbers, replicates.mean(axis=0), yerr=np.abs([low, high] - replicates.mean(axis=0)), fmt="o", color=FIT,
                  label="replicates, 90 %")
    axes.set(xlabel="fish", ylabel="visitors", xticks=numbers)


def orbit(axes: Axes, fit: Fit) -> None:
    data = table("velocities")
    turns = np.linspace(0, 1, 300)
    period, phase, e = fit.column("period"), fit.column("phase"), fit.column("eccentricity")
    anomaly = mean = 2 * np.pi * turns[None, :]
    for _ in range(20):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
    distance = 1 - e * np.cos(anomaly)
    cosine, sine = (np.cos(anomaly) - e) / distance, np.sqrt(1 - e**2) * np.sin(anomaly) / distance
    omega = fit.column("omega")
    curves = fit.column("velocity") + fit.column("amplitude") * (
        np.cos(omega) * (cosine + e) - np.sin(omega) * sine)
    band(axes, turns, curves)
    place = np.mod(data["time"] / period.mean() + phase.mean(), 1)
    error = np.hypot(data["error"], fit["jitter"].mean())
    axes.errorbar(place, data["velocity_measured"], yerr=error, fmt=".", color=DATA, label="measured")
    axes.set(xlabel="part of the period since periastron", ylabel="velocity")


PICTURES: dict[str, Callable[[Axes, Fit], None]] = {
    "two_gaussians": two_gaussians, "peak": spectrum, "binned_peak": spectrum, "poisson": poisson, "logistic": logistic,
    "robust": robust, "survival": survival, "eight_schools": eight_schools,
    "hierarchical_logistic": hierarchical_logistic, "von_mises": von_mises, "zero_inflated": zero_inflated, "orbit": orbit,
}


def sample(program: str, name: str, settings: list[str], folder: pathlib.Path) -> Fit:
    arguments = [program, "run", str(EXAMPLES / f"{name}.yaml"), "--output", str(folder), "--quiet", "--allow-code"]
    for setting in settings:
        arguments += ["--set", setting]
    subprocess.run(arguments, check=True)
    return Fit(emomc.read_run(folder))


def save(figure: Any, path: pathlib.Path) -> None:
    """As SVG without a date and with fixed names, so that equal draws make equal files."""
    matplotlib.rcParams["svg.hashsalt"] = path.stem
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--emomc", default="build/release/bin/emomc", help="the program (default %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("docs/images"),
                        help="the folder of the pictures (default %(default)s)")
    parser.add_argument("--only", nargs="+", choices=sorted(PICTURES), default=list(PICTURES), metavar="NAME")
    parser.add_argument("--set", dest="settings", nargs="+", default=[], metavar="KEY=VALUE",
                        help="settings of the runs, such as sampler.draws=200")
    options = parser.parse_args()
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 9, "figure.figsize": (6.4, 3.4),
                                "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
    from matplotlib import pyplot

    with tempfile.TemporaryDirectory() as work:
        for name in options.only:
            print(name, flush=True)
            figure, axes = pyplot.subplots(layout="constrained")
            PICTURES[name](axes, sample(options.emomc, name, options.settings, pathlib.Path(work) / name))
            if axes.get_legend() is None:
                axes.legend()
            save(figure, options.output / f"gallery-{name.replace('_', '-')}.svg")
            pyplot.close(figure)


if __name__ == "__main__":
    main()

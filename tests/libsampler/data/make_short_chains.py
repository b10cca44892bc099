#!/usr/bin/env python3
"""Writes short_chains.json: the diagnostics of R's posterior and of ArviZ for chains of 3 to 20 draws.

    python3 make_short_chains.py > short_chains.json

Needs numpy, arviz (0.23) and Rscript with posterior (1.4). Chains are first-order autoregressions, rounded to
multiples of 1/4096. The last cases have ties: a 0/1 column, and a column whose 95 % quantile is its maximum.
"""

import json
import math
import subprocess
import tempfile
import warnings

warnings.simplefilter("ignore")
import arviz  # noqa: E402
import numpy  # noqa: E402

R = """
suppressMessages(library(posterior))
for (file in commandArgs(TRUE)) {
  x <- as.matrix(read.table(file))
  dimnames(x) <- NULL
  v <- suppressWarnings(c(rhat(x), ess_bulk(x), ess_tail(x), ess_mean(x), mcse_mean(x)))
  cat(sprintf("%.17g", v), sep = " ")
  cat("\\n")
}
"""
NAMES = ["rhat", "ess_bulk", "ess_tail", "ess_mean", "mcse_mean"]


def chains_of(random, num_chains, num_draws, rho):
    x = random.standard_normal((num_chains, num_draws))
    for i in range(1, num_draws):
        x[:, i] = rho * x[:, i - 1] + math.sqrt(1 - rho**2) * x[:, i]
    return numpy.round(x * 4096) / 4096  # makes distances from a median, and ties among them, exact


def number(x):
    return None if math.isnan(x) else float(x)


random = numpy.random.default_rng(20)
cases = [
    {"rho": rho, "draws": chains_of(random, m, n, rho).tolist()}
    for n in range(3, 21)
    for m, rho in ((1, 0.5), (2, 0.9), (4, 0.0), (4, 0.6), (20, 0.8))
]
binary = (random.random((4, 20)) < 0.3).astype(float)
top = numpy.minimum(chains_of(random, 4, 20, 0.3), 0.75)
cases += [{"rho": 0, "draws": binary.tolist()}, {"rho": 0.3, "draws": top.tolist()}]

with tempfile.TemporaryDirectory() as folder:
    files = []
    for i, case in enumerate(cases):
        files.append(f"{folder}/{i}")
        numpy.savetxt(files[-1], numpy.array(case["draws"]).T, fmt="%.17g")
    open(f"{folder}/r", "w").write(R)
    lines = subprocess.run(["Rscript", f"{folder}/r", *files], check=True, capture_output=True, text=True).stdout
for case, line in zip(cases, lines.splitlines(), strict=True):
    case["posterior"] = {k: number(float(v.replace("NA", "nan"))) for k, v in zip(NAMES, line.split(), strict=True)}
    x = numpy.array(case["draws"])
    case["arviz"] = {
        "rhat": number(arviz.rhat(x)),
        "ess_bulk": number(arviz.ess(x, method="bulk")),
        "ess_tail": number(arviz.ess(x, method="tail")),
        "ess_mean": number(arviz.ess(x, method="mean")),
        "mcse_mean": number(arviz.mcse(x, method="mean")),
    }
print("[")
print(",\n".join(json.dumps(case) for case in cases))
print("]")

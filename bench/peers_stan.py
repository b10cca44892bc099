"""Runs Stan, through R's rstan, as a peer of peers.py."""
import functools
import os
import subprocess
import tempfile

from problem import D, K, log_likelihood, mixture

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def version():
    """Returns the version of rstan, or None if it is not installed."""
    try:
        done = subprocess.run(["Rscript", "-e", 'cat(as.character(packageVersion("rstan")))'], capture_output=True,
                              text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


class Session:
    """An R process in which mixture.stan is compiled; this takes a minute."""

    def __init__(self):
        if version() is None:
            raise ImportError("R has no rstan")
        self.errors = tempfile.TemporaryFile("w+")  # messages of compiler and sampler, and the error that ends R
        self.process = subprocess.Popen(["Rscript", f"{HERE}/stan_peer.R", f"{HERE}/mixture.stan"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answer "):
                return line.split()[1]
        self.errors.seek(0)
        raise RuntimeError("R ended: " + " ".join(self.errors.read()[-300:].split()))


@functools.cache
def session():
    return Session()


def stan_mixture(n, chains):
    """Prepares the mixture in float64 and one thread, since rstan evaluates a log density in one thread only."""
    weights, means, scales, x = mixture(n)
    with tempfile.TemporaryDirectory() as folder:
        problem, rows = os.path.join(folder, "problem.R"), os.path.join(folder, "rows")
        x.T.tofile(rows)
        with open(problem, "w") as file:
            file.write(f"N <- {n}L\nD <- {D}L\nK <- {K}L\n")
            for name, values in (("weights", weights), ("means", means), ("scales", scales)):
                numbers = ", ".join(map(repr, values.ravel("F").tolist()))
                dim = f", .Dim = c({K}L, {D}L)" if values.ndim > 1 else ""
                file.write(f"{name} <- structure(c({numbers}){dim})\n")
        which = session().ask("load", problem, rows)
    value, expected = float(session().ask("evaluate", which, 1)), log_likelihood(weights, means, scales, x)
    if abs(value - expected) > 1e-9 * abs(expected):
        raise RuntimeError(f"Stan's log likelihood is {value}, which should be {expected}")
    return lambda count: session().ask("evaluate", which, count)

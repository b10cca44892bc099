"""Runs a model of bench/stan in an R process with rstan, for own_likelihoods.py and nuts_stan.py."""
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
# Debian's R compiles with -O2. With the wider vectors of -march=native, Eigen would allocate blocks of memory with
# its own alignment, which Stan's precompiled library, built without these vectors, frees in another way. Therefore
# malloc allocates the blocks.
FLAGS = "-O3 -march=native -DEIGEN_MAX_ALIGN_BYTES=16 -DEIGEN_MALLOC_ALREADY_ALIGNED=1 -w"
MAKEVARS = "".join(f"{name} = {FLAGS}\n" for name in ("CXXFLAGS", "CXX14FLAGS", "CXX17FLAGS"))


class StanSession:
    """A session that compiles bench/stan/NAME.stan, which takes a minute unless `cache` contains the model."""

    def __init__(self, name, cache):
        cache = pathlib.Path(cache)
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "Makevars").write_text(MAKEVARS)
        self.folder = tempfile.TemporaryDirectory()
        self.errors = tempfile.TemporaryFile("w+")
        environment = {**os.environ, "R_MAKEVARS_USER": str(cache / "Makevars"), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(["Rscript", HERE / "stan_session.R", HERE / "stan" / f"{name}.stan", cache],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env=environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answer "):
                return json.loads(line[len("answer "):])
        self.errors.seek(0)
        raise RuntimeError("R ended: " + self.errors.read()[-2000:])

    def load(self, data):
        """Loads `data`, which are numbers and arrays of float64 or int32."""
        described = {}
        for name, value in data.items():
            if isinstance(value, np.ndarray):
                kind = "integer" if value.dtype == np.int32 else "double"
                value.ravel("F").tofile(f"{self.folder.name}/{name}")
                value = {"file": name, "type": kind, "dim": list(value.shape)}
            described[name] = value
        path = pathlib.Path(self.folder.name) / "data.json"
        path.write_text(json.dumps(described))
        return self.ask("load", path)

    def timed(self, what, parameters, seconds):
        """Returns {"seconds", "value"} of one evaluation; `what` is log_prob, gradient or doubles."""
        path = pathlib.Path(self.folder.name) / "parameters.json"
        path.write_text(json.dumps(parameters))
        return self.ask(what, path, seconds)

    def sample(self, chains, cores, warmup, draws, seed):
        """Returns the answer of the R process, and the draws [chain, draw, parameter]."""
        path = f"{self.folder.name}/draws"
        answer = self.ask("sample", chains, cores, warmup, draws, seed, path)
        table = np.fromfile(path).reshape((draws, chains, len(answer["names"])), order="F")
        return answer, table.transpose(1, 0, 2)

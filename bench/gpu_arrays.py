#!/usr/bin/env python3
"""Measures what is copied to the host when an array on a GPU is sampled, and how much memory of the device this takes.

    python3 bench/gpu_arrays.py [--library cupy] [--rows 100000000] [--json out.json]

For a mixture of Gaussians and for an expression, on an array of rows x 1 in float64, the script prints the bytes from
device to host in total and without the draws, the peak of device memory in sizes of the array, and seconds. It checks
both limits of issue 34, and that a smaller array has the same draws as its values on the host, bit for bit; the exit
code is 1 if one of these checks fails. Copies are traced by CUPTI (bench/trace_copies.cpp, which is compiled by the
script), and memory by asking the driver every millisecond. The package emomc has to be importable
(PYTHONPATH=build/release/python).
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/python"))
from gpu_array import LIBRARIES, Runtime, has_gpu, to_gpu  # noqa: E402

MOST_BYTES, MOST_ARRAYS = 1e6, 2.5
TRACER = "CUDA_INJECTION64_PATH"


def start_again_with_tracer(cuda):
    """Starts this program again with the tracer, which the driver loads when it starts."""
    folder = tempfile.mkdtemp(prefix="emomc-trace-")
    library = os.path.join(folder, "trace_copies.so")
    where = [f"-I{cuda}/include", f"-I{cuda}/extras/CUPTI/include"]
    libraries = [f"{cuda}/{part}" for part in ("lib64", "lib", "extras/CUPTI/lib64")]
    where += [f"-L{part}" for part in libraries] + [f"-Wl,-rpath,{part}" for part in libraries]
    command = ["g++", "-O2", "-shared", "-fPIC", str(HERE / "trace_copies.cpp"), "-o", library, *where, "-lcupti"]
    subprocess.run(command, check=True)
    # JAX would take most of the memory at once.
    more = {TRACER: library, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | more)


class Copies:
    """Counts bytes and copies to the host since the object was made."""

    def __init__(self):
        self._library = ctypes.CDLL(os.environ[TRACER])
        self._begin = self._now()

    def _now(self):
        size, count = (ctypes.c_uint64 * 4)(), (ctypes.c_uint64 * 4)()
        if not self._library.copied_bytes(size, count):
            raise RuntimeError("CUPTI does not say what was copied")
        return np.array([size[0], count[0], size[1]], dtype=np.int64)

    def to_host(self):
        return (self._now() - self._begin).tolist()


class Peak(threading.Thread):
    """Records the least free memory of the device while the thread runs."""

    def __init__(self, runtime):
        super().__init__(daemon=True)
        self._runtime, self._ended, self.free = runtime, threading.Event(), runtime.free_bytes()

    def run(self):
        while not self._ended.wait(0.001):
            self.free = min(self.free, self._runtime.free_bytes())

    def end(self):
        self._ended.set()
        self.join()
        self.free = min(self.free, self._runtime.free_bytes())
        return self.free


def numbers(rows, seed=1):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=rows)
    values[: rows // 3] = 4 + 0.5 * values[: rows // 3]
    rng.shuffle(values[: min(rows, 1 << 20)])
    return values


def draws_of(kind, array, options):
    import emomc

    if kind == "mixture":
        mixture = emomc.GaussianMixture(2, covariance_type="diag", ordered=True)
        return mixture.fit_posterior(array if len(array.shape) == 2 else array[:, None], **options).draws_
    model = emomc.Model(
        data=array if len(array.shape) == 2 else array[:, None],
        parameters={"m": emomc.real(), "s": emomc.positive()},
        log_density="normal_lpdf(c0, m, s)",
        priors={"m": emomc.normal(0, 10), "s": emomc.half_normal(5)},
    )
    return emomc.sample(model, **options)


def same_bits(kind, library, rows):
    values = numbers(rows, 2)[:, None]
    options = dict(chains=4, draws=50, warmup=50, seed=3, progress=False, backend="cuda")
    gpu, host = draws_of(kind, to_gpu(values, library), options), draws_of(kind, values, options)
    return all(np.array_equal(gpu[name], host[name]) for name in gpu.parameters)


def measure(kind, array, size, before, runtime, draws):
    options = dict(chains=4, draws=draws, warmup=draws, seed=3, progress=False, backend="cuda")
    copies, peak = Copies(), Peak(runtime)
    peak.start()
    began = time.perf_counter()
    drawn = draws_of(kind, array, options)
    seconds = time.perf_counter() - began
    to_host, count, to_gpu_bytes = copies.to_host()
    used = before - peak.end()
    # Each draw has two log densities and the parameters; those of the warm-up are copied to the host as well.
    of_draws = 8 * 4 * 2 * draws * (2 + sum(int(np.prod(drawn[name].shape[2:])) for name in drawn.parameters))
    return {
        "model": kind,
        "seconds": seconds,
        "bytes_to_host": to_host,
        "copies_to_host": count,
        "bytes_of_draws": of_draws,
        "bytes_beside_draws": to_host - of_draws,
        "bytes_to_gpu": to_gpu_bytes,
        "peak_bytes": used,
        "peak_arrays": used / size,
    }


def first_library():
    for library in LIBRARIES:
        try:
            to_gpu(np.zeros(1), library)
            return library
        except ImportError:
            continue
    raise SystemExit("gpu_arrays: no library has an array of a GPU here")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=LIBRARIES, help="the library of the arrays; default: the first that is installed")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--draws", type=int, default=100, help="draws of each of 4 chains, and steps of warm-up")
    parser.add_argument("--cuda", default="/usr/local/cuda", help="folder of CUDA's toolkit")
    parser.add_argument("--json", help="file for the results")
    options = parser.parse_args()
    if not has_gpu():
        raise SystemExit("gpu_arrays: this machine has no GPU that CUDA's runtime knows")
    if TRACER not in os.environ:
        start_again_with_tracer(options.cuda)

    runtime = Runtime()
    library = options.library or first_library()
    same = {kind: same_bits(kind, library, 200_000) for kind in ("mixture", "expression")}  # this also starts CUDA
    print(f"arrays of {library}; draws are those of the host's values: {same}", flush=True)
    values = numbers(options.rows)[:, None]
    results = []
    for kind in ("mixture", "expression"):
        before = runtime.free_bytes()
        array = to_gpu(values, library)
        if library == "cupy":
            import cupy

            cupy.get_default_memory_pool().free_all_blocks()
        row = measure(kind, array, values.nbytes, before, runtime, options.draws)
        row["rows"], row["library"] = options.rows, library
        row["kept"] = bool(row["bytes_beside_draws"] < MOST_BYTES and row["peak_arrays"] <= MOST_ARRAYS)
        results.append(row)
        print(
            f"{kind}: {row['bytes_to_host']:,} bytes to the host in {row['copies_to_host']:,} copies, "
            f"{row['bytes_beside_draws']:,} beside the draws (limit {MOST_BYTES:,.0f}); peak {row['peak_arrays']:.2f} "
            f"arrays (limit {MOST_ARRAYS}); {row['seconds']:.1f} s",
            flush=True,
        )
        del array
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"same_bits": same, "runs": results}, indent=1) + "\n")
    sys.exit(0 if all(same.values()) and all(row["kept"] for row in results) else 1)


if __name__ == "__main__":
    main()

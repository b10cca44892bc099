"""Describes the machine of a measurement: GPU, sustained clock rates, processor and versions."""
import datetime
import importlib.metadata
import os
import platform
import statistics
import subprocess
import threading

FLOAT32_LANES = {"9.0": 128, "8.9": 128, "8.6": 128, "8.0": 64, "10.0": 128, "12.0": 128}  # for each multiprocessor


def nvidia_smi(*fields):
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, check=True)
        return [field.strip() for field in done.stdout.splitlines()[0].split(",")]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


class Clocks(threading.Thread):
    """Reads the GPU's clock rate twice a second; samples while the GPU is idle do not count."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples, self.stopped = [], threading.Event()

    def run(self):
        while not self.stopped.wait(0.5):
            if (read := nvidia_smi("clocks.sm", "utilization.gpu")) is None:
                return
            if float(read[1]) > 0:
                self.samples.append(float(read[0]))

    def held(self):
        if not self.samples:
            return None
        return {"median": statistics.median(self.samples), "least": min(self.samples), "samples": len(self.samples)}


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def versions(packages):
    result = {"python": platform.python_version()}
    for package in packages:
        try:
            result[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return result


def describe(devices):
    """Returns the description; `devices` is the output of `emomc devices --json`."""
    result = {"date": datetime.date.today().isoformat(), "processor": processor(), "threads": len(os.sched_getaffinity(0)),
              "simd": devices["cpu"]["simd"],
              "versions": versions(["numpy", "scikit-learn", "cupy-cuda13x", "cupy-cuda12x", "jax", "torch", "numba",
                                    "numba-cuda", "numpyro"])}
    from peers_stan import version  # needs NumPy, which a page made from earlier results does not

    if rstan := version():
        result["versions"]["rstan"] = rstan
    gpus = devices["cuda"]["devices"]
    if gpus:
        result["gpu"] = gpus[0]
        if read := nvidia_smi("driver_version", "clocks.max.sm"):
            result["gpu"].update(driver=read[0], largest_clock_mhz=float(read[1]))
    return result

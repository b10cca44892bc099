"""Measures a long run of one chain: its time per step and its memory over time.

    python3 bench/long_run.py [--emomc build/release/bin/emomc] [--backend cuda] [--rows 1000] [--steps 10000000]

Every 1,000th draw is kept, and a checkpoint is written every 5 s. The script prints the resident memory of the process
and the memory of the GPU over time, and the time per step. It needs numpy.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

CONFIG = """data: {{file: {folder}/rows.npy}}
likelihood: {{components: 8}}
sampler: {{chains: 1, warmup: 1000, draws: {draws}, thin: 1000, proposal: {{kind: random_walk}}}}
backend: {backend}
checkpoint: {{seconds: 5}}
output: {{directory: {folder}/run}}
"""


def host_megabytes(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"VmRSS:\s*(\d+)", status).group(1)) / 1024
    except (OSError, AttributeError):  # the process has just ended
        return None


def gpu_megabytes():
    try:
        out = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                             capture_output=True, text=True, check=True).stdout
        return int(out.split()[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/rows.npy", np.random.default_rng(1).normal(size=(arguments.rows, 13)).astype(np.float32))
        config = pathlib.Path(folder, "run.yaml")
        config.write_text(CONFIG.format(folder=folder, draws=arguments.steps // 1000, backend=arguments.backend))
        began = time.monotonic()
        with open(f"{folder}/errors", "w") as errors:
            process = subprocess.Popen([arguments.emomc, "run", str(config), "-q"], stderr=errors)
            samples = []
            while process.poll() is None:
                samples.append((time.monotonic() - began, host_megabytes(process.pid), gpu_megabytes()))
                time.sleep(1)
        if process.returncode != 0:
            raise SystemExit(pathlib.Path(folder, "errors").read_text())
        manifest = json.loads(pathlib.Path(folder, "run/manifest.json").read_text())
    samples = [s for s in samples if s[1] is not None]
    print("   seconds  host MB  GPU MB")
    for at, host, gpu in samples[:: max(1, len(samples) // 10)]:
        print(f"{at:10.0f} {host:8.0f} {gpu if gpu is not None else '-':>7}")
    seconds, steps = manifest["seconds"], manifest["steps"] - 1000
    print(f"start-up {seconds['startup']:.2f} s; {steps} steps, {1e6 * seconds['sampling'] / steps:.2f} microseconds a step")


if __name__ == "__main__":
    main()

"""Fixtures that the tests of the Python package share."""

import csv
import os
import pathlib
import signal
import subprocess
import sys
import time

import emomc
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def faithful():
    """Returns Old Faithful's eruptions: duration and waiting in minutes, 272 x 2."""
    with open(ROOT / "tests/apps/data/faithful.csv", newline="") as file:
        rows = list(csv.reader(file))
    return {name: np.array([float(row[j]) for row in rows[1:]]) for j, name in enumerate(rows[0])}


@pytest.fixture(scope="session")
def arviz_0():
    """Returns ArviZ before 1.0, which has InferenceData."""
    arviz = pytest.importorskip("arviz")
    if int(arviz.__version__.split(".")[0]) >= 1:
        pytest.skip(f"ArviZ {arviz.__version__} has no InferenceData")
    return arviz


@pytest.fixture(scope="session")
def program():
    """Returns the path of the program emomc."""
    path = os.environ.get("EMOMC_PROGRAM")
    if not path:
        pytest.skip("EMOMC_PROGRAM does not name the program")
    return path


def line(data, **more):
    return emomc.Model(
        data=data,
        parameters={"a": emomc.real(), "b": emomc.real(), "s": emomc.positive()},
        log_density="normal_lpdf(waiting, a + b * duration, s)",
        priors={"a": emomc.normal(0, 50), "b": emomc.normal(0, 50), "s": emomc.half_normal(20)},
        derived={"ratio": "a / b"},
        **more,
    )


def interrupted(code, said, *arguments, seconds=0):
    """Runs a Python program, sends it SIGINT `seconds` after it has printed the line `said`, and returns its further
    output, its errors and its exit code."""
    # A shell starts jobs in the background with SIGINT ignored, and Python then leaves it ignored.
    listens = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    child = subprocess.Popen(
        [sys.executable, "-c", listens + code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == said + "\n"
        time.sleep(seconds)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
    finally:
        child.kill()
    return out, err, child.returncode

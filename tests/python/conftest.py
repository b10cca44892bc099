"""What the tests of the Python package share."""

import csv
import os
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def faithful():
    """Old Faithful's eruptions: duration and waiting in minutes, 272 x 2."""
    with open(ROOT / "tests/apps/data/faithful.csv", newline="") as file:
        rows = list(csv.reader(file))
    return {name: np.array([float(row[j]) for row in rows[1:]]) for j, name in enumerate(rows[0])}


@pytest.fixture(scope="session")
def program():
    """The path of the program emomc."""
    path = os.environ.get("EMOMC_PROGRAM")
    if not path:
        pytest.skip("EMOMC_PROGRAM does not name the program")
    return path

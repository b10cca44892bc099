"""Tests the contents of the package."""

import re
import shutil
import subprocess

import emomc
import pytest

from conftest import ROOT

NOTICES = ROOT / "python/THIRD-PARTY.md"
# Libraries that every supported system has.
SYSTEM = {"libc", "libm", "libdl", "librt", "libpthread", "libstdc++", "libgcc_s", "ld-linux-x86-64", "ld-linux-aarch64"}


def test_the_notices_name_every_shared_library():
    if not shutil.which("readelf"):
        pytest.skip("no readelf")
    out = subprocess.run(["readelf", "-d", emomc._emomc.__file__], capture_output=True, check=True, text=True).stdout
    needed = {name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", out)}
    assert needed - SYSTEM
    text = NOTICES.read_text()
    for name in needed - SYSTEM:
        # auditwheel renames its copies, for example to libfmt-1a2b3c4d.so.9.1.0.
        assert re.search(rf"\| {re.escape(re.sub('-[0-9a-f]{8}$', '', name))} \|", text), name


def test_a_wheel_has_its_licences():
    from importlib import metadata

    try:
        files = metadata.files("emomc") or []
    except metadata.PackageNotFoundError:
        pytest.skip("the package was not installed from a wheel")
    names = {file.name for file in files}
    assert {"LICENSE", "THIRD-PARTY.md", "py.typed", "_emomc.pyi"} <= names


def test_the_version_is_that_of_the_project():
    (version,) = re.findall(r"project\(emomc VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert emomc.__version__ == version

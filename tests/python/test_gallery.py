"""Tests the gallery of examples: its script runs every example and draws a picture that the page shows."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def marks(path):
    """Returns the number of drawn paths of a picture, and its texts."""
    root = ElementTree.parse(path).getroot()
    texts = ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]
    return sum(1 for _ in root.iter(f"{SVG}path")), texts


def test_every_example_of_the_gallery_is_drawn(tmp_path, program):
    pytest.importorskip("matplotlib")
    package = os.path.dirname(os.path.dirname(sys.modules["emomc"].__file__))
    subprocess.run(
        [sys.executable, "docs/examples/gallery.py", "--emomc", program, "--output", tmp_path,
         "--set", "sampler.draws=50", "sampler.warmup=100", "backend=cpu"],
        cwd=ROOT, check=True, env={**os.environ, "PYTHONPATH": package},
    )
    page = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    examples = sorted(path.stem for path in (ROOT / "docs/examples/likelihoods").glob("*.yaml"))
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(f"gallery-{name.replace('_', '-')}.svg" for name in examples)
    for name in examples:
        picture = f"gallery-{name.replace('_', '-')}.svg"
        assert f"](images/{picture})" in page
        assert f"](examples/likelihoods/{name}.yaml)" in page
        # The committed picture has the same axes and legend as this one, whatever the draws are.
        count, texts = marks(tmp_path / picture)
        _, committed = marks(ROOT / "docs/images" / picture)
        assert count > 10
        words = [text for text in texts if any(letter.isalpha() for letter in text)]
        assert words == [text for text in committed if any(letter.isalpha() for letter in text)]

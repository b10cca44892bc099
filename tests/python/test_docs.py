"""Tests the page about the package: its blocks of code run, one after the other."""

import pytest

from conftest import ROOT


def test_the_pages_code_runs(tmp_path, monkeypatch):
    for module in ("numba", "arviz"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    assert len(blocks) >= 6
    line = 1
    scope = {}
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, "docs/python.md", "exec"), scope)
    assert scope["draws"].trusted
    assert (scope["again"]["m"] == scope["draws"]["m"]).all()
    value = scope["compiled"].log_posterior([0.3, 0.0, 1.0, 3.0])
    expected = scope["model"].log_posterior([0.3, 0.0, 1.0, 3.0])
    # The function omits the constant of the normal densities.
    assert value == pytest.approx(expected + 500 * 0.9189385332046727, rel=1e-9)

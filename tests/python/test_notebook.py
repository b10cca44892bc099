"""Tests the notebook of docs/: its cells run, one after the other; `--kernel` runs them in Jupyter's kernel."""

import json

import pytest

from conftest import ROOT

NOTEBOOK = ROOT / "docs/notebook.ipynb"


def test_the_cells_run_and_have_their_outputs(monkeypatch):
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(ROOT / "docs")
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    scope = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), scope)
    assert len(plt.get_fignums()) == 2
    plt.close("all")
    assert scope["draws"].trusted and [finding.severity for finding in scope["draws"].diagnose()] == ["warning"]
    assert scope["draws"]["b"].mean() == pytest.approx(10.7, abs=0.5)
    # The committed notebook has been executed: it contains numbers of cells, tables and both plots.
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [kind for cell in cells for output in cell["outputs"] for kind in output.get("data", {})]
    assert kinds.count("image/png") == 2
    assert not any(output["output_type"] == "error" for cell in cells for output in cell["outputs"])


@pytest.mark.kernel
def test_jupyter_runs_it():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    content = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(content, timeout=600, resources={"metadata": {"path": str(ROOT / "docs")}}).execute()
    outputs = [output for cell in content.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2

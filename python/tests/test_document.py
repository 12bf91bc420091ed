"""docs/python.md: its Python is the cells of a notebook, executed in order, and its programs are run."""

import re
import subprocess
import sys

import pytest
from support import ROOT, needs_binary

PAGE = ROOT / "docs" / "python.md"
pytestmark = [needs_binary(), pytest.mark.skipif(not PAGE.exists(), reason="the page is not in the source archive")]
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_cell_and_program_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook()
    programs = []
    for language, text in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        if language == "sh" and text.startswith("sqlite3 "):
            command = f"import subprocess\nprint(subprocess.run(['bash', '-c', {text!r}], check=True))"
            notebook.cells.append(nbformat.v4.new_code_cell(command))
        elif language == "python" and not text.startswith("# "):
            notebook.cells.append(nbformat.v4.new_code_cell(text))
        elif language == "python":
            programs.append(text)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    outputs = [str(output) for cell in notebook.cells for output in cell.outputs]
    for text in (
        "Elk Valley",
        "Ours",
        "datetime.date(2026, 12, 24), False)",
        "[(84",
        "constraint False",
        "bank update {'id': 2} {'assets': 80.0} {'id': 2, 'assets': 50.0}",
    ):
        assert any(text in output for output in outputs), text
    assert len(programs) == 1
    for program in programs:
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
        assert "First Security" in done.stdout

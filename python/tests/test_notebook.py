"""A notebook, executed by Jupyter's own kernel, against a real server: its lists move."""

import pytest
from support import database, needs_binary
from test_table import STATE

pytestmark = needs_binary()
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

from freshet._notebook import show  # noqa: E402  it needs IPython

SCHEMA = """CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT);
INSERT INTO bank VALUES (1, 'First <Security>', 'GA'), (2, 'Citizens', 'FL');"""
WAIT = "for _ in range(500):\n    if {}: break\n    await asyncio.sleep(0.01)"


def executed(path, *cells):
    notebook = nbformat.v4.new_notebook()
    start = f"import asyncio, freshet\nserver = freshet.serve({str(path)!r}, allow_writes=True)\nclient = await freshet.connect(server.url)"
    end = "await client.close()\nserver.stop()"
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in (start, *cells, end)]
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    return notebook.cells[1:-1]


def html(cell, index=0):
    return cell.outputs[index]["data"]["text/html"]


def test_a_list_at_the_end_of_a_cell_moves(tmp_path):
    path = tmp_path / "banks.sqlite"
    database(path, SCHEMA)
    shown, _, state = executed(
        path,
        'banks = await client.subscribe("bank", section_by="state", order_by=["name"], totals={"n": "count(*)"})\nbanks',
        'done = await client.transact("INSERT INTO bank VALUES (3, ?, ?)", ["Elk Valley", "CO"])\n'
        + 'await client.transact("UPDATE bank SET name = ? WHERE id = 2", ["Citizens of Florida"])\n'
        + WAIT.format("banks.total == 3")
        + "\nawait asyncio.sleep(0.5)",
        "banks.state",
    )
    assert len(shown.outputs) == 1
    page = html(shown)
    # The cell was executed with two rows, and has three now.
    assert page.index("CO") < page.index("Elk Valley") < page.index("Citizens of Florida") < page.index("GA")
    assert "First &lt;Security&gt;" in page
    assert '<th colspan="3">CO <span class="count">1 · n 1</span></th>' in page
    assert "3 rows · n 3" in page
    assert "Elk Valley" in html(state)
    assert shown.outputs[0]["data"]["text/plain"].startswith("<LiveList closed: <ListState of 3 rows in 3 sections")


def test_what_another_program_writes_is_shown_too(tmp_path):
    path = tmp_path / "banks.sqlite"
    database(path, SCHEMA)
    program = f"import sqlite3; db = sqlite3.connect({str(path)!r}); db.execute('DELETE FROM bank WHERE id = 1'); db.commit()"
    writing = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {program!r}], check=True)\n"
    shown, _ = executed(
        path,
        'banks = await client.subscribe("bank", select=["name"])\nbanks.show(rows=1, interval=0)',
        writing + WAIT.format("banks.total == 1") + "\nawait asyncio.sleep(0.2)",
    )
    assert "First" not in html(shown)
    assert "Citizens" in html(shown)


def test_a_list_that_is_closed_stays_as_it_was(tmp_path):
    path = tmp_path / "banks.sqlite"
    database(path, SCHEMA)
    shown, _, table = executed(
        path,
        'banks = client.subscribe("bank")\nbanks',
        'await banks\nbanks.close()\nawait client.transact("DELETE FROM bank")\nawait asyncio.sleep(0.3)',
        "banks.to_pandas()",
    )
    assert "Citizens" in html(shown)
    assert "2 rows · closed" in html(shown)
    if "text/html" in table.outputs[0]["data"]:
        assert "Citizens" in html(table)


def test_a_refused_query_says_why(tmp_path):
    path = tmp_path / "banks.sqlite"
    database(path, SCHEMA)
    shown, _ = executed(
        path, 'banks = client.subscribe("nowhere")\nbanks', WAIT.format("banks.status == 'failed'") + "\nawait asyncio.sleep(0.2)"
    )
    assert "no such table: nowhere" in html(shown)


def test_without_a_kernel_it_is_shown_once(capsys):
    class Shown:
        state, status, error = STATE, "live", None

        def __repr__(self):
            return "a list"

    show(Shown(), rows=5, interval=0)
    assert capsys.readouterr().out == "a list\n"

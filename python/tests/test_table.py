"""States as tables of HTML."""

from freshet import Section
from freshet._rows import RowMaker
from freshet._sequence import RowSequence
from freshet._state import ListState, Window
from freshet._table import shown, table

MAKER = RowMaker(tuple)


def state(rows, sections=None, **members):
    sections = sections or (Section("", "", len(rows)),)
    columns = ("id", "name")
    return ListState(
        MAKER, columns=columns, key=("id",), sections=sections, is_complete=True, version="1", sequence=RowSequence.of(rows), **members
    )


STATE = state([(1, "ash"), (2, None)])


def test_values_never_become_markup():
    page = table(state([("<script>", "\"'&")], (Section("<b>", "<", 1, {"<i>": "</p>"}),), totals={"<u>": "<"}))
    for text in ("<script>", "<b>", "<i>", "<u>", "\"'&"):
        assert text not in page.split("</style>")[1]
    assert "&lt;script&gt;" in page


def test_cells_say_what_they_are():
    page = table(state([(1, None), (2, b"\x00" * 2000), (3, "x" * 1000)]))
    assert '<td class="number">1</td><td class="null">NULL</td>' in page
    assert "<td>2,000 bytes</td>" in page
    assert f"<td>{'x' * 200}…</td>" in page


def test_what_changed_is_coloured():
    before = shown(state([(1, "ash"), (2, "oak")]), 50)
    page = table(state([(3, "elm"), (2, "OAK"), (1, "ash")]), before=before)
    assert '<tr class="inserted"><td class="number">3</td><td>elm</td></tr>' in page
    assert '<tr><td class="number">2</td><td class="changed">OAK</td></tr>' in page
    assert '<tr><td class="number">1</td><td>ash</td></tr>' in page
    assert 'class="inserted"' not in table(STATE)


def test_as_many_rows_as_are_wanted():
    sections = (Section("A", "A", 150), Section(None, "", 50))
    all_rows = state([(index, "x") for index in range(200)], sections)
    page = table(all_rows, rows=3)
    assert page.count("<tr>") == 3 + 1
    assert "3 of 200 rows" in page
    assert "NULL" not in page
    held = RowSequence.hole(200).replacing(149, 2, RowSequence.of([(149, "x"), (150, "y")]))
    page = table(all_rows.replacing(sequence=held, window=Window(149, 2)), status="reconnecting")
    assert page.index(">A <") < page.index('"number">149<') < page.index(">NULL <") < page.index('"number">150<')
    assert "2 of 200 rows · reconnecting" in page

"""Rows as frames of pandas, Arrow and Polars."""

import datetime

import pytest

from freshet._apply import apply
from freshet._rows import RowMaker
from freshet._state import ListState

COLUMNS = ["id", "name", "size", "at"]
ROWS = [[1, "Elk", 1, "2026-11-28"], [2, None, 2.5, "2026-11-29"], [3, "Fir", None, None]]


def state(window=None, rows=ROWS, kinds=None):
    """Three rows in two sections."""
    offset, limit = window or (0, 3)
    message = {
        "type": "snapshot", "version": "1", "commit": 1, "columns": COLUMNS, "key": ["id"], "total": 3, "complete": True, "offset": offset,
        "sections": [{"name": "GA", "indexTitle": "G", "count": 1}, {"name": None, "indexTitle": "", "count": 2}],
        "rows": rows[offset : offset + limit], "window": {"offset": offset, "limit": limit} if window else None,
    }  # fmt: skip
    return apply(ListState(RowMaker(tuple, kinds)), message)


def test_pandas():
    pytest.importorskip("pandas")
    frame = state(kinds={"at": datetime.date}).to_pandas(section="state")
    assert list(frame.columns) == ["state", "name", "size", "at"]
    assert list(frame.index) == [1, 2, 3]
    assert frame["state"].iloc[0] == "GA"
    assert frame["at"].iloc[0] == datetime.date(2026, 11, 28)
    assert list(state(window=(1, 1)).to_pandas().index) == [2]


def test_arrow():
    pytest.importorskip("pyarrow")
    table = state(kinds={"at": datetime.date}).to_arrow(section="state")
    assert table.to_pydict() == {
        "state": ["GA", None, None], "id": [1, 2, 3], "name": ["Elk", None, "Fir"], "size": [1.0, 2.5, None],
        "at": [datetime.date(2026, 11, 28), datetime.date(2026, 11, 29), None],
    }  # fmt: skip
    assert [str(field.type) for field in table.schema] == ["string", "int64", "string", "double", "date32[day]"]


def test_polars():
    polars = pytest.importorskip("polars")
    frame = state(window=(1, 2), kinds={"at": datetime.date}).to_polars(section="state")
    assert frame.columns == ["state", *COLUMNS]
    assert frame["id"].to_list() == [2, 3]
    assert frame["size"].to_list() == [2.5, None]
    assert frame.schema["at"] == polars.Date


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_several_types_in_a_column_become_texts(library):
    pytest.importorskip(library)
    rows = [[1, "a", 1, 1], [2, {"$blob": "AP8="}, "x", 2.5], [3, 5, None, None]]
    frame = state(rows=rows)
    made = frame.to_arrow() if library == "pyarrow" else frame.to_polars()
    columns = made.to_pydict() if library == "pyarrow" else made.to_dict(as_series=False)
    assert columns["name"] == ["a", "00ff", "5"]
    assert columns["size"] == ["1", "x", None]
    assert columns["at"] == [1.0, 2.5, None]


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
def test_no_rows(library):
    pytest.importorskip(library)
    frame = {"pandas": "to_pandas", "pyarrow": "to_arrow", "polars": "to_polars"}[library]
    assert len(getattr(state(window=(0, 0)), frame)(section="state")) == 0


def test_a_section_may_not_be_called_as_a_column():
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="there is a column 'name'"):
        state().to_arrow(section="name")

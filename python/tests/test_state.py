"""States, and what messages make of them."""

import pickle

import pytest
from support import snapshot

from freshet import Section, Window
from freshet._apply import apply
from freshet._change import Change
from freshet._errors import MismatchError
from freshet._rows import RowMaker
from freshet._state import ListState

EMPTY = ListState(RowMaker(tuple))
PATCH = {"type": "patch", "from": "1", "to": "2", "commit": 2, "total": 1}


def started(sections, **others):
    rows = [row for _, rows in sections for row in rows]
    named = [{"name": name, "indexTitle": name, "count": len(rows)} for name, rows in sections]
    return apply(EMPTY, {**snapshot(rows), "sections": named, **others})


def test_rows_by_offset_path_key_and_section():
    state = started([("A", [[1, "ash"], [2, "oak"]]), ("B", [[3, "fir"]])])
    assert state.sections == (Section("A", "A", 2), Section("B", "B", 1))
    assert (state.at(2), state.row((0, 1)), state.at(3), state.at(-1)) == ((3, "fir"), (2, "oak"), None, None)
    assert (state.row((1, 1)), state.row((2, 0)), state.row((-1, 0))) == (None, None, None)
    assert (state.path(3), state.path((3,)), state.path(9)) == ((1, 0), (1, 0), None)
    assert (state.path_of(1), state.path_of(3), state.offset_of((1, 0))) == ((0, 1), None, 2)
    assert state.section_rows(0) == [(1, "ash"), (2, "oak")]
    assert list(state) == list(state.rows)
    assert repr(state) == "<ListState of 3 rows in 2 sections, commit 1>"


def test_a_state_stays_as_it_is():
    before = started([("A", [[1, "ash"], [2, "oak"]])])
    after = apply(before, {**PATCH, "deleted": [[0, 0]]})
    assert (before.rows, after.rows) == ([(1, "ash"), (2, "oak")], [(2, "oak")])
    assert after.at(0) is before.at(1)


def test_a_snapshot_comes_in_parts():
    part = apply(EMPTY, {**snapshot([[1, "a"], [2, "b"]]), "rows": [[1, "a"]], "complete": False})
    assert (part.is_complete, part.rows, part.total) == (False, [(1, "a")], 2)
    with pytest.raises(MismatchError):
        apply(part, PATCH)
    whole = apply(part, {"type": "rows", "version": "1", "offset": 1, "rows": [[2, "b"]], "complete": True})
    assert (whole.is_complete, whole.rows) == (True, [(1, "a"), (2, "b")])


def test_a_new_window_keeps_what_the_old_one_covered():
    rows = [[index, "x"] for index in range(8)]
    before = apply(EMPTY, {**snapshot(rows), "rows": rows[:4], "window": {"offset": 0, "limit": 4}})
    window = {"offset": 2, "limit": 4}
    after = apply(before, {"type": "rows", "version": "1", "window": window, "offset": 4, "rows": rows[4:6], "complete": True})
    assert [row[0] for row in after.rows] == [2, 3, 4, 5]
    assert (after.window, after.offset, after.total) == (Window(2, 4), 2, 8)


@pytest.mark.parametrize(
    "members",
    [
        {"from": "x"}, {"total": 9}, {"deleted": [[4, 0]]}, {"deleted": [[0, 1]]}, {"sectionsDeleted": [3]}, {"sectionsDeleted": [-1]},
        {"inserted": [[5, 0, [9, "x"]]]}, {"inserted": [[0, 3, [9, "x"]]], "total": 2}, {"inserted": [[0, 0]], "total": 2},
        {"updated": [[[0, 7], [0, 7], {"name": "x"}]]}, {"filled": [[4, [9, "x"]]]}, {"filled": [[-1, [9, "x"]]]},
        {"sectionsInserted": [[0, {"name": "B", "indexTitle": "B", "count": 2, "rows": [[9, "x"]]}]], "total": 3},
        {"sectionTotals": [[3, {"n": 1}]]},
    ],
)  # fmt: skip
def test_what_does_not_fit_changes_nothing(members):
    state = started([("A", [[1, "ash"]])])
    with pytest.raises(MismatchError):
        apply(state, {**PATCH, **members})
    assert state.rows == [(1, "ash")]
    with pytest.raises(MismatchError):
        apply(state, {"type": "located", "id": "1"})


def test_values_that_json_cannot_carry():
    state = started([("A", [[{"$int": "9007199254740993"}, {"$blob": "AP8="}]])], alongside={"most": {"$int": "-9007199254740993"}})
    assert state.rows == [(9007199254740993, b"\x00\xff")]
    assert state.path(9007199254740993) == (0, 0)
    assert state.alongside == {"most": -9007199254740993}


def test_differences_are_matched_by_key():
    before = started([("A", [[1, "ash"], [2, "oak"], [3, "fir"]])])
    patch = {**PATCH, "deleted": [[0, 0]], "inserted": [[0, 0, [4, "elm"]]], "updated": [[[0, 1], [0, 1], {"name": "OAK"}]], "total": 3}
    after = apply(before, patch)
    found = Change("patch", after, before, patch).differences()
    assert (found.inserted, found.deleted, found.updated) == ([(4, "elm")], [(1, "ash")], [((2, "oak"), (2, "OAK"))])
    assert Change("snapshot", after, None, None).differences().inserted == list(after.rows)


def test_states_are_pickled():
    state = started([("A", [[1, "ash"]])], window={"offset": 0, "limit": 5}, totals={"n": 1})
    again = pickle.loads(pickle.dumps(state))
    assert (again.rows, again.window, again.version, again.totals, again.sections) == (
        state.rows, state.window, state.version, state.totals, state.sections,
    )  # fmt: skip
    assert apply(again, {**PATCH, "deleted": [[0, 0]], "total": 0}).rows == []

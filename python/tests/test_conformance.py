"""The conformance corpus of docs/clients.md, taken in by the client."""

import functools
import json
import os

import pytest

from freshet._apply import apply
from freshet._rows import RowMaker
from freshet._state import ListState

FILE = os.environ.get("FRESHET_CORPUS", "")


def cases():
    if not FILE:
        return [pytest.param(None, marks=pytest.mark.skip(reason="FRESHET_CORPUS names no corpus: make corpus"))]
    with open(FILE, encoding="utf-8") as file:
        return [pytest.param(case, id=case["name"]) for case in json.load(file)["cases"]]


@pytest.mark.parametrize("case", cases())
def test_case(case):
    state = functools.reduce(apply, case["messages"], ListState(RowMaker(tuple)))
    entries = list(state.entries())
    sections = [
        {"name": each.name, "indexTitle": each.index_title, "count": each.count, **({"totals": each.totals} if each.totals else {})}
        for each in state.sections
    ]
    held = {
        "version": state.version, "columns": list(state.columns), "key": list(state.key), "total": state.total, "sections": sections,
        "window": state.window and state.window._asdict(), "offset": state.window.offset if state.window else 0,
        "rows": [list(row) for row in state.rows], "totals": state.totals, "alongside": state.alongside,
    }  # fmt: skip
    assert held == {"totals": {}, **case["expected"]}
    assert [offset for offset, _ in entries] == list(range(case["expected"]["offset"], case["expected"]["offset"] + len(entries)))


@pytest.mark.skipif(not FILE, reason="FRESHET_CORPUS names no corpus: make corpus")
def test_there_are_golden_vectors_and_exchanges_in_it():
    assert len(cases()) > 35

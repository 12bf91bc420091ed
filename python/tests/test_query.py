"""Queries and transactions as a program writes them."""

import pytest

from freshet._query import key_message, query_message, transaction_message, window_message


def test_parts_have_pythons_spelling():
    parts = {"section_by": "state", "order_by": ("name",), "group_by": [], "refresh_every": 5, "params": {"x": b"\x00"}, "where": "a = :x"}
    assert query_message("bank", parts) == {
        "from": "bank", "sectionBy": "state", "orderBy": ["name"], "groupBy": [], "refreshEvery": 5, "params": {"x": {"$blob": "AA=="}},
        "where": "a = :x",
    }  # fmt: skip


def test_a_query_may_be_a_whole_message_or_published():
    whole = {"from": "bank", "orderBy": ["name"]}
    assert query_message(whole, {"limit": 3}) == {"from": "bank", "orderBy": ["name"], "limit": 3}
    assert whole == {"from": "bank", "orderBy": ["name"]}
    assert query_message(None, {"name": "failed", "params": {"state": "GA"}}) == {"name": "failed", "params": {"state": "GA"}}


def test_misspelt_and_missing_parts():
    with pytest.raises(TypeError, match="'orderBy' is no part of a query"):
        query_message("bank", {"orderBy": ["name"]})
    with pytest.raises(TypeError, match="needs a table"):
        query_message(None, {})
    with pytest.raises(TypeError, match="no values like"):
        query_message("bank", {"params": {"x": object()}})


def test_windows_and_keys():
    assert window_message((-3, 5.0)) == {"offset": 0, "limit": 5}
    assert key_message(2**60) == {"$int": str(2**60)}
    assert key_message(("a", b"\x00")) == ["a", {"$blob": "AA=="}]


@pytest.mark.parametrize(
    ("given", "params", "name", "expected"),
    [
        ("DELETE FROM t", None, None, {"statements": [{"sql": "DELETE FROM t"}]}),
        ("DELETE FROM t WHERE a = ?", [1], None, {"statements": [{"sql": "DELETE FROM t WHERE a = ?", "params": [1]}]}),
        (["A", ("B", {"x": b""}), {"sql": "C"}], None, None,
         {"statements": [{"sql": "A"}, {"sql": "B", "params": {"x": {"$blob": ""}}}, {"sql": "C"}]}),
        (None, {"id": 7}, "close", {"name": "close", "params": {"id": 7}}),
        (None, None, "close", {"name": "close"}),
    ],
)  # fmt: skip
def test_transactions(given, params, name, expected):
    assert transaction_message(given, params, name) == expected


@pytest.mark.parametrize(
    ("given", "params", "name"),
    [(None, None, None), ("A", None, "b"), (["A"], [1], None), ([("A", 1, 2)], None, None), ([3], None, None), ([("A", "x")], None, None)],
)
def test_refused_transactions(given, params, name):
    with pytest.raises(TypeError):
        transaction_message(given, params, name)

"""What rows look like to the program."""

import pickle
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import pytest

from freshet._rows import RowMaker

COLUMNS = ("id", "name", "depth")
VALUES = (7, "Elk", 1.5)


@dataclass
class Well:
    id: int
    name: str


@dataclass(frozen=True)
class Annotated:
    name: str
    note: Optional[str] = None
    tags: list = field(default_factory=list)
    length: int = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "length", len(self.name))


class Pair(NamedTuple):
    depth: float
    id: int


class Plain:
    def __init__(self, name, *, depth=0):
        self.values = (name, depth)


def test_tuples_dictionaries_and_classes():
    assert RowMaker(tuple).row(VALUES, COLUMNS) == VALUES
    assert RowMaker(dict).row(VALUES, COLUMNS) == {"id": 7, "name": "Elk", "depth": 1.5}
    assert type(RowMaker(OrderedDict).row(VALUES, COLUMNS)) is OrderedDict
    assert RowMaker(Well).row(VALUES, COLUMNS) == Well(7, "Elk")
    assert RowMaker(Pair).row(VALUES, COLUMNS) == Pair(1.5, 7)
    assert RowMaker(Plain).row(VALUES, COLUMNS).values == ("Elk", 1.5)
    assert RowMaker(Annotated).row(VALUES, COLUMNS).length == 3


def test_a_missing_column_is_named():
    with pytest.raises(TypeError, match="Well needs name, and the list has id, depth"):
        RowMaker(Well).check(("id", "depth"))
    RowMaker(Annotated).check(("name",))


def test_columns_may_change():
    maker = RowMaker(dict)
    assert maker.row((1, 2), ("a", "b")) == {"a": 1, "b": 2}
    assert maker.row((1, 2), ("a", "c")) == {"a": 1, "c": 2}


def test_rows_is_a_type():
    with pytest.raises(TypeError, match="rows is a type"):
        RowMaker("dict")


def test_makers_are_pickled_by_their_type():
    maker = RowMaker(Well)
    maker.check(COLUMNS)
    assert pickle.loads(pickle.dumps(maker)).row(VALUES, COLUMNS) == Well(7, "Elk")

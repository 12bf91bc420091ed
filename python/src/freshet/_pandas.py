"""Rows as a data frame. Only imported where it is asked for."""

from __future__ import annotations

from typing import Any

import pandas

from ._state import ListState


def frame(state: ListState[Any]) -> pandas.DataFrame:
    """The rows that are held, indexed by the key."""
    result: pandas.DataFrame = pandas.DataFrame.from_records(list(state.values), columns=list(state.columns))
    indexed: pandas.DataFrame = result.set_index(list(state.key)) if state.key else result
    return indexed

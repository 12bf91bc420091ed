"""The rows that are held as data frames. Each library is imported only where it is asked for."""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from ._state import ListState

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def pandas_frame(state: ListState[Any], section: Optional[str]) -> pandas.DataFrame:
    """Indexed by the key."""
    import pandas

    rows = state.maker.values(state.values, state.columns)
    result: pandas.DataFrame = pandas.DataFrame.from_records(rows, columns=list(state.columns))
    if section is not None:
        result.insert(0, section, _sections(state, section))
    indexed: pandas.DataFrame = result.set_index(list(state.key)) if state.key else result
    return indexed


def arrow_table(state: ListState[Any], section: Optional[str]) -> pyarrow.Table:
    """With the columns in their order."""
    import pyarrow

    return pyarrow.table({name: pyarrow.array(_uniform(values)) for name, values in _columns(state, section).items()})


def polars_frame(state: ListState[Any], section: Optional[str]) -> polars.DataFrame:
    """With the columns in their order."""
    import polars

    return polars.DataFrame({name: polars.Series(name, _uniform(values), strict=True) for name, values in _columns(state, section).items()})


def _columns(state: ListState[Any], section: Optional[str]) -> Dict[str, List[Any]]:
    """Values by column, converted as the list's rows are."""
    columns = dict(zip(state.columns, state.maker.by_column(state.values, state.columns)))
    return columns if section is None else {section: _sections(state, section), **columns}


def _sections(state: ListState[Any], section: str) -> List[Any]:
    """The name of each held row's section."""
    if section in state.columns:
        raise ValueError(f"there is a column {section!r}: call that of the sections otherwise")
    names = chain.from_iterable(repeat(each.name, each.count) for each in state.sections)
    return list(islice(names, state.offset, state.offset + len(state)))


def _uniform(values: List[Any]) -> List[Any]:
    """Values of one type, as columns of Arrow and Polars have them. SQLite may have several in a column."""
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) < 2:
        return values
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else value.hex() if isinstance(value, bytes) else str(value) for value in values]

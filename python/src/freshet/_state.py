"""One state of a live list: sections with counts, and the rows whose contents are held."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Generic, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._rows import Row, RowMaker
from ._sequence import RowSequence
from ._values import SQLValue, Values

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: Where a row stands: section and place in it, both from 0.
IndexPath = Tuple[int, int]


class Window(NamedTuple):
    """A range of offsets in the whole result, sections ignored."""

    offset: int
    limit: int


@dataclass(frozen=True)
class Section:
    """A run of rows with the same section value."""

    name: SQLValue
    #: A short title to jump by.
    index_title: str
    #: Its rows, whether held or not.
    count: int
    #: The query's `totals` of its rows.
    totals: Mapping[str, SQLValue] = field(default_factory=dict)


class ListState(Generic[Row]):
    """One state of a live list. It never changes: what arrives makes another state, which shares with this one what is the same.

    Accessing a row costs O(log rows); `rows` costs O(rows held) the first time. A state can be pickled, and given as `since` to another
    client's `subscribe`: then only what changed in the meantime is sent.
    """

    __slots__ = (
        "_cached_rows", "_cached_starts", "_offsets", "alongside", "columns", "commit", "is_complete", "key", "maker", "sections",
        "sequence", "totals", "version", "window",
    )  # fmt: skip

    def __init__(
        self,
        maker: RowMaker[Row],
        *,
        columns: Tuple[str, ...] = (),
        key: Tuple[str, ...] = (),
        sections: Tuple[Section, ...] = (),
        window: Optional[Window] = None,
        version: Optional[str] = None,
        commit: int = -1,
        totals: Optional[Mapping[str, SQLValue]] = None,
        alongside: Optional[Mapping[str, SQLValue]] = None,
        is_complete: bool = False,
        sequence: Optional[RowSequence] = None,
    ) -> None:
        self.maker = maker
        #: Names of the columns, those of the key first.
        self.columns = columns
        #: Columns that identify a row.
        self.key = key
        self.sections = sections
        #: The range of offsets whose rows are held; None when all are.
        self.window = window
        #: Names this state to the server.
        self.version = version
        #: Counts the file's commits: two states with the same number show the same state of the file.
        self.commit = commit
        #: The query's `totals` of all rows, whether held or not.
        self.totals: Mapping[str, SQLValue] = totals or {}
        #: Values of the query's `alongside`.
        self.alongside: Mapping[str, SQLValue] = alongside or {}
        #: Whether no part of the rows is still on its way.
        self.is_complete = is_complete
        self.sequence = RowSequence.hole(0) if sequence is None else sequence
        self._cached_rows: Optional[List[Row]] = None
        self._cached_starts: Optional[List[int]] = None
        self._offsets: Optional[Dict[Values, int]] = None

    def __reduce__(self) -> Any:
        members = {name: getattr(self, name) for name in self.__slots__ if not name.startswith("_") and name != "maker"}
        return _restored, (self.maker, members)

    def replacing(self, **members: Any) -> ListState[Row]:
        """The same state with other members."""
        own = {name: getattr(self, name) for name in self.__slots__ if not name.startswith("_") and name != "maker"}
        return ListState(self.maker, **{**own, **members})

    @property
    def total(self) -> int:
        """Rows of the result, whether held or not."""
        return len(self.sequence)

    @property
    def offset(self) -> int:
        """The offset of the first of `rows`."""
        return min(self.window.offset, self.total) if self.window else 0

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that are held, in order: the window's, or all."""
        if self._cached_rows is None:
            self._cached_rows = self.maker.rows([values for _, values in self.sequence.entries()], self.columns)
        return self._cached_rows

    @property
    def values(self) -> Sequence[Values]:
        """The rows that are held as tuples in the order of `columns`, whatever type `rows` are of."""
        return [values for _, values in self.sequence.entries()]

    def __len__(self) -> int:
        return self.sequence.held

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def entries(self) -> Iterator[Tuple[int, Row]]:
        """Held rows with their offsets."""
        for offset, values in self.sequence.entries():
            yield offset, self.maker.row(values, self.columns)

    def at(self, offset: int) -> Optional[Row]:
        """The row at an offset in the whole result; None where it is not held."""
        values = self.sequence.at(offset)
        return None if values is None else self.maker.row(values, self.columns)

    def row(self, path: IndexPath) -> Optional[Row]:
        """The row at an index path; None where it is not held."""
        offset = self.offset_of(path)
        return None if offset is None else self.at(offset)

    def section_rows(self, index: int) -> Sequence[Row]:
        """The rows of one section that are held."""
        start, end = self._starts[index], self._starts[index + 1]
        held = (self.sequence.at(offset) for offset in range(start, end))
        return self.maker.rows([values for values in held if values is not None], self.columns)

    def path(self, key: Any) -> Optional[IndexPath]:
        """Where the row with a key stands, which is a value, or a tuple for a compound key; None when no held row has it."""
        if self._offsets is None:
            self._offsets = {self.key_of(values): offset for offset, values in self.sequence.entries()}
        offset = self._offsets.get(tuple(key) if isinstance(key, (tuple, list)) else (key,))
        return None if offset is None else self.path_of(offset)

    def key_of(self, values: Values) -> Values:
        """The key of a row that is given as its values."""
        # Key columns come first, in the order of the key.
        if self.columns[: len(self.key)] == self.key:
            return values[: len(self.key)]
        return tuple(values[self.columns.index(column)] for column in self.key)

    def path_of(self, offset: int) -> Optional[IndexPath]:
        """The index path of an offset; None outside the result."""
        if not 0 <= offset < self.total:
            return None
        section = bisect.bisect_right(self._starts, offset) - 1
        return section, offset - self._starts[section]

    def offset_of(self, path: IndexPath) -> Optional[int]:
        """The offset of an index path; None outside the result."""
        section, item = path
        if not 0 <= section < len(self.sections) or not 0 <= item < self.sections[section].count:
            return None
        return self._starts[section] + item

    def to_pandas(self, section: Optional[str] = None) -> pandas.DataFrame:
        """The rows that are held as a data frame, indexed by the key; `section` names a column for the sections. Needs pandas."""
        from ._frames import pandas_frame

        return pandas_frame(self, section)

    def to_arrow(self, section: Optional[str] = None) -> pyarrow.Table:
        """The rows that are held as a table of Arrow; `section` names a column for the sections. Needs pyarrow."""
        from ._frames import arrow_table

        return arrow_table(self, section)

    def to_polars(self, section: Optional[str] = None) -> polars.DataFrame:
        """The rows that are held as a data frame of Polars; `section` names a column for the sections. Needs polars."""
        from ._frames import polars_frame

        return polars_frame(self, section)

    def _repr_html_(self) -> str:
        from ._table import table

        return table(self)

    def __repr__(self) -> str:
        held = "" if self.sequence.held == self.total else f", {self.sequence.held} held"
        return f"<ListState of {self.total} rows in {len(self.sections)} sections{held}, commit {self.commit}>"

    @property
    def _starts(self) -> List[int]:
        """First offsets of the sections, and the total."""
        if self._cached_starts is None:
            self._cached_starts = starts(self.sections)
        return self._cached_starts


def starts(sections: Sequence[Section]) -> List[int]:
    """First offsets of the sections, and the total."""
    result = [0]
    for section in sections:
        result.append(result[-1] + section.count)
    return result


def _restored(maker: RowMaker[Any], members: Dict[str, Any]) -> ListState[Any]:
    return ListState(maker, **members)

"""Makes rows of the types that a program wants: tuples, dictionaries, dataclasses, named tuples."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, cast

from ._convert import Converter, Kind, converters
from ._values import Values

Row = TypeVar("Row")


class RowMaker(Generic[Row]):
    """Makes rows of one type out of values in the order of columns.

    `tuple` and `dict` take any columns. A class takes those that its fields name, as keywords: for a dataclass or a named tuple, its
    fields; for any other class, the parameters of its `__init__`. `kinds` has the types that values of some columns become.
    """

    __slots__ = ("_columns", "_converters", "_make", "kind", "kinds")

    def __init__(self, kind: Type[Row], kinds: Optional[Mapping[str, Kind]] = None) -> None:
        if not isinstance(kind, type):
            raise TypeError(f"rows is a type (tuple, dict, a dataclass), not {kind!r}")
        self.kind = kind
        self.kinds: Mapping[str, Kind] = kinds or {}
        self._converters: List[Tuple[int, Converter]] = []
        self._columns: Optional[Tuple[str, ...]] = None
        self._make: Callable[[Values], Row] = lambda values: cast(Row, values)

    def __reduce__(self) -> Any:
        return RowMaker, (self.kind, self.kinds)

    def convert(self, kinds: Mapping[str, Kind]) -> None:
        """From now on values of these columns become these types."""
        self.kinds, self._columns = kinds, None

    def check(self, columns: Sequence[str]) -> None:
        """TypeError where a class needs a column that the list does not have."""
        if self._columns != tuple(columns):
            self._converters = list(converters(self.kinds, columns))
            self._make = self._maker(columns)
            self._columns = tuple(columns)

    def rows(self, rows: Sequence[Values], columns: Sequence[str]) -> List[Row]:
        """Rows of the program's type."""
        rows = self.values(rows, columns)
        return cast("List[Row]", rows) if self.kind is tuple else [self._make(row) for row in rows]

    def values(self, rows: Sequence[Values], columns: Sequence[str]) -> List[Values]:
        """Rows as tuples, converted."""
        self.check(columns)
        return [self._converted(row) for row in rows] if self._converters else list(rows)

    def by_column(self, rows: Sequence[Values], columns: Sequence[str]) -> List[List[Any]]:
        """The values of each column, whatever type rows are of."""
        self.check(columns)
        result = [list(values) for values in zip(*rows)] if rows else [[] for _ in columns]
        for index, converter in self._converters:
            result[index] = [None if value is None else converter(value) for value in result[index]]
        return result

    def row(self, values: Values, columns: Sequence[str]) -> Row:
        """One row of the program's type."""
        self.check(columns)
        return self._make(self._converted(values) if self._converters else values)

    def _converted(self, values: Values) -> Values:
        result = list(values)
        for index, converter in self._converters:
            if result[index] is not None:
                result[index] = converter(result[index])
        return tuple(result)

    def _maker(self, columns: Sequence[str]) -> Callable[[Values], Row]:
        kind: Any = self.kind
        if kind is tuple:
            return lambda values: cast(Row, values)
        if issubclass(kind, dict):
            return lambda values: cast(Row, kind(zip(columns, values)))
        taken = _fields(kind)
        missing = [name for name, is_needed in taken.items() if is_needed and name not in columns]
        if missing:
            raise TypeError(f"{kind.__name__} needs {', '.join(missing)}, and the list has {', '.join(columns)}")
        places = [(name, index) for index, name in enumerate(columns) if name in taken]
        return lambda values: cast(Row, kind(**{name: values[index] for name, index in places}))


def _fields(kind: Any) -> Dict[str, bool]:
    """The parameters of a class, by name: whether each is needed."""
    if dataclasses.is_dataclass(kind):
        return {
            field.name: field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            for field in dataclasses.fields(kind)
            if field.init
        }
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return {name: name not in kind._field_defaults for name in kind._fields}
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(kind).parameters.values()
    return {each.name: each.default is inspect.Parameter.empty for each in parameters if each.kind in kinds}

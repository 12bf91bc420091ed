"""Dates, times and booleans out of SQLite's texts and numbers, by the types of columns."""

from __future__ import annotations

import datetime
import re
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Sequence, Tuple

from ._values import Message

#: A type that values may become.
Kind = type
#: Converts one value of a column; a value that does not fit stays as it is.
Converter = Callable[[Any], Any]

_DECLARED = re.compile(r"\s*(BOOLEAN|BOOL|DATETIME|TIMESTAMP|DATE|TIME)\b", re.I)
_KINDS: Mapping[str, Kind] = {
    "BOOLEAN": bool, "BOOL": bool, "DATETIME": datetime.datetime, "TIMESTAMP": datetime.datetime, "DATE": datetime.date,
    "TIME": datetime.time,
}  # fmt: skip
_NAME = re.compile(r'"((?:[^"]|"")+)"|\[([^\]]+)\]|`((?:[^`]|``)+)`|(\w+)')


def _boolean(value: Any) -> Any:
    return value == 1 if value in (0, 1) else value


def _parsed(parse: Callable[[str], Any]) -> Converter:
    def convert(value: Any) -> Any:
        if value.__class__ is not str:
            return value
        try:
            return parse(value)
        except ValueError:
            return value

    return convert


def _datetime(text: str) -> datetime.datetime:
    # Before Python 3.11 `fromisoformat` takes no Z.
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "zZ" and text else text)


CONVERTERS: Mapping[Kind, Converter] = {
    bool: _boolean,
    datetime.datetime: _parsed(_datetime),
    datetime.date: _parsed(datetime.date.fromisoformat),
    datetime.time: _parsed(datetime.time.fromisoformat),
}


def converters(kinds: Mapping[str, Kind], columns: Sequence[str]) -> Iterator[Tuple[int, Converter]]:
    """The columns that are converted, by their places."""
    for index, column in enumerate(columns):
        kind = kinds.get(column)
        if kind is not None:
            yield index, CONVERTERS[kind]


def checked(kinds: Mapping[str, Any]) -> Mapping[str, Kind]:
    """TypeError for a type that values are not converted to."""
    for column, kind in kinds.items():
        if kind not in CONVERTERS:
            known = ", ".join(each.__name__ for each in CONVERTERS)
            raise TypeError(f"convert: {column!r} cannot become {kind!r}; there are {known}")
    return dict(kinds)


def declared(schema: Message, query: Mapping[str, Any]) -> Dict[str, Kind]:
    """The types of columns, by name, as the query's tables declare them. A name that two tables declare differently has none."""
    text = query.get("from") or query.get("sql")
    if not isinstance(text, str):
        raise TypeError("convert=True needs the query's tables; give the columns of a published query: convert={'at': datetime}")
    named = {next(filter(None, groups)).lower() for groups in _NAME.findall(text)}
    found: Dict[str, Optional[Kind]] = {}
    for table in schema.get("tables", ()):
        if table["name"].lower() in named:
            for column in table["columns"]:
                declaration = _DECLARED.match(column.get("type") or "")
                kind = _KINDS[declaration[1].upper()] if declaration else None
                name = column["name"]
                found[name] = kind if found.get(name, kind) is kind else None
    return {name: kind for name, kind in found.items() if kind is not None}

"""Values as JSON carries them, and as a program wants them: docs/protocol.md, 3.1."""

from __future__ import annotations

import base64
import datetime
import json
import math
import numbers
import uuid
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

#: SQLite's values. NULL is None, and a BLOB is bytes; integers are exact, whatever their size.
SQLValue = Union[str, int, float, bytes, None]
#: Values by parameter name (`:name`), or in the order of the `?`.
Parameters = Union[Mapping[str, Any], Sequence[Any]]
#: A message of docs/protocol.md, as parsed.
Message = Dict[str, Any]
#: The values of one row, in the order of `columns`.
Values = Tuple[Any, ...]

#: The largest integer that every JSON parser reads exactly.
_LARGEST = 2**53 - 1
# JSON has no infinity, and Python's encoder no way to write 1e999: these texts are replaced after it.
_INFINITY = f"+infinity {uuid.uuid4()}"
_MINUS_INFINITY = f"-infinity {uuid.uuid4()}"


def decoded(value: Any) -> Any:
    """A value of a message: large integers become `int`, BLOBs `bytes`."""
    if value.__class__ is not dict:
        return value
    if "$int" in value:
        return int(value["$int"])
    if "$blob" in value:
        return base64.b64decode(value["$blob"])
    return value


def decoded_members(members: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """Values by name: a row, changes of one, totals."""
    return {name: decoded(value) for name, value in members.items()} if members else {}


def values_of(row: Any, columns: Sequence[str]) -> Values:
    """A row of a message, which is an array or an object (`shape`)."""
    values: Iterable[Any] = [row[column] for column in columns] if isinstance(row, dict) else row
    return tuple([value if value.__class__ is not dict else decoded(value) for value in values])


def rows_of(rows: Iterable[Any], columns: Sequence[str]) -> List[Values]:
    """Rows of a message. Nearly all of them are arrays of plain values."""
    return [tuple(row) if row.__class__ is list and dict not in map(type, row) else values_of(row, columns) for row in rows]


def encoded_value(value: Any) -> Any:
    """A value for a message; dates and times as SQLite writes them. TypeError for what SQLite has nothing like."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$blob": base64.b64encode(value).decode("ascii")}
    if isinstance(value, numbers.Integral):
        number = int(value)
        return number if -_LARGEST <= number <= _LARGEST else {"$int": str(number)}
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        real = float(value)
        if math.isnan(real):
            return None
        return real if math.isfinite(real) else _INFINITY if real > 0 else _MINUS_INFINITY
    raise TypeError(f"SQLite has no values like {value!r}: give a str, int, float, bytes or None")


def encoded_parameters(parameters: Parameters) -> Any:
    """Parameters for a message."""
    if isinstance(parameters, Mapping):
        return {str(name): encoded_value(value) for name, value in parameters.items()}
    if isinstance(parameters, (str, bytes)):
        raise TypeError("parameters are a mapping of names to values, or a sequence of values")
    return [encoded_value(value) for value in parameters]


def encoded(message: Mapping[str, Any]) -> str:
    """A message as text; values in it have been through `encoded_value`."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if _INFINITY in text or _MINUS_INFINITY in text:
        text = text.replace(f'"{_INFINITY}"', "1e999").replace(f'"{_MINUS_INFINITY}"', "-1e999")
    return text

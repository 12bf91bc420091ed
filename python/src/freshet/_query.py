"""Queries and transactions as a program writes them, and as messages carry them."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from ._state import Window
from ._values import Message, Parameters, encoded_parameters, encoded_value

#: An expression of SQL, or several.
Expressions = Union[str, Sequence[str]]
#: The `from` of a query (`"bank"`), or a query as docs/protocol.md 2 has it (`{"from": "bank", "orderBy": ["name"]}`).
QueryLike = Union[str, Mapping[str, Any], None]
#: A statement, with its parameters where it has any.
Statement = Union[str, Tuple[str, Parameters], Mapping[str, Any]]
#: A window, or its offset and limit.
WindowLike = Union[Window, Tuple[int, int]]


class QueryParts(TypedDict, total=False):
    """The parts of one SELECT, and how to cut it into sections: docs/protocol.md 2, in Python's spelling."""

    #: A whole SELECT, instead of a table, `select`, `where`, `group_by` and `having`; other parts are over the columns
    #: of its result.
    sql: str
    #: Expressions; all columns of the first table without it.
    select: Expressions
    where: Optional[str]
    #: Values of `:name` or `?` in any of the parts.
    params: Parameters
    group_by: Expressions
    having: Optional[str]
    #: An expression, or `{"by": …, "order": …, "name": …, "indexTitle": …}`.
    section_by: Union[str, Mapping[str, Any], None]
    order_by: Expressions
    #: The first rows of the ordered result alone.
    limit: Optional[int]
    #: Columns that identify a row; the primary key of the first table without it.
    key: Expressions
    #: Seconds after which the query is run again whatever happened.
    refresh_every: Optional[float]
    #: Aggregates over all rows and over each section, by name.
    totals: Mapping[str, str]
    #: Queries of one value that are evaluated with the rows, by name.
    alongside: Mapping[str, str]
    #: A query that the server's operator has published, instead of parts.
    name: str


_SPELLED = {
    "group_by": "groupBy", "section_by": "sectionBy", "order_by": "orderBy", "refresh_every": "refreshEvery",
    **{name: name for name in ("sql", "select", "where", "params", "having", "limit", "key", "totals", "alongside", "name")},
}  # fmt: skip


def query_message(query: QueryLike, parts: Mapping[str, Any]) -> Message:
    """A query for a message. TypeError for a part that no query has, and for values that SQLite does not have."""
    result: Dict[str, Any] = {"from": query} if isinstance(query, str) else dict(query or {})
    for name, part in parts.items():
        if name not in _SPELLED:
            raise TypeError(f"{name!r} is no part of a query; there are {', '.join(sorted(_SPELLED))}")
        result[_SPELLED[name]] = part
    if not result:
        raise TypeError("a query needs a table: subscribe('bank'), or subscribe(name=…) for a published one")
    for name, part in result.items():
        if name == "params":
            result[name] = encoded_parameters(part)
        elif isinstance(part, tuple):
            result[name] = list(part)
    return result


def window_message(window: WindowLike) -> Message:
    """A window for a message: whole numbers, none below 0."""
    offset, limit = window
    return {"offset": max(0, int(offset)), "limit": max(0, int(limit))}


def key_message(key: Any) -> Any:
    """A key for a message: a value, or a tuple for a compound key."""
    return [encoded_value(each) for each in key] if isinstance(key, (tuple, list)) else encoded_value(key)


def transaction_message(statements: Union[str, Sequence[Statement], None], params: Optional[Parameters], name: Optional[str]) -> Message:
    """The statements that `transact` runs: one, several, or those that are published under a name."""
    if (name is None) == (statements is None):
        raise TypeError("transact takes statements, or the name of published ones")
    if name is not None:
        return {"name": name} if params is None else {"name": name, "params": encoded_parameters(params)}
    if isinstance(statements, str):
        return {"statements": [_statement(statements if params is None else (statements, params))]}
    if params is not None:
        raise TypeError("each of several statements has its own parameters: [(sql, params), …]")
    return {"statements": [_statement(each) for each in statements or ()]}


def _statement(statement: Statement) -> Message:
    if isinstance(statement, str):
        return {"sql": statement}
    sql: Any = None
    params: Optional[Parameters] = None
    if isinstance(statement, Mapping):
        sql, params = statement.get("sql"), statement.get("params")
    elif isinstance(statement, tuple) and len(statement) == 2:
        sql, params = statement
    if not isinstance(sql, str):
        raise TypeError(f"a statement is SQL, or (SQL, parameters), not {statement!r}")
    return {"sql": sql} if params is None else {"sql": sql, "params": encoded_parameters(params)}

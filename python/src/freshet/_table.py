"""A state of a list as a table of HTML. Values never become markup."""

from __future__ import annotations

import html
from itertools import islice
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from ._state import ListState, Section
from ._values import Values

_LONGEST_TEXT = 200

_STYLE = """<style>
.freshet table { border-collapse: collapse; font-variant-numeric: tabular-nums }
.freshet th, .freshet td { padding: 0.2em 0.7em; text-align: left; border-bottom: 1px solid rgba(127, 127, 127, 0.25) }
.freshet td.number { text-align: right }
.freshet tr.section th { padding-top: 0.8em; background: rgba(127, 127, 127, 0.12) }
.freshet .count, .freshet .note, .freshet td.null { opacity: 0.6; font-weight: normal }
.freshet tr.inserted td { animation: freshet-inserted 2s }
.freshet td.changed { animation: freshet-changed 2s }
@keyframes freshet-inserted { from { background: rgba(46, 160, 67, 0.5) } }
@keyframes freshet-changed { from { background: rgba(210, 153, 34, 0.6) } }
</style>"""


def table(state: ListState[Any], *, rows: int = 50, before: Optional[Dict[Values, Values]] = None, status: str = "") -> str:
    """At most `rows` of the rows that are held. `before` has those that were shown last, by key: what changed since is coloured."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in state.columns)
    body = "".join(_lines(state, rows, before))
    foot = html.escape(" · ".join(_notes(state, rows, status)))
    return (
        f'<div class="freshet">{_STYLE}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p class="note">{foot}</p></div>'
    )


def shown(state: ListState[Any], rows: int) -> Dict[Values, Values]:
    """The rows that `table` shows, by key."""
    return {state.key_of(values): values for _, values in islice(state.sequence.entries(), rows)}


def _lines(state: ListState[Any], rows: int, before: Optional[Dict[Values, Values]]) -> Iterator[str]:
    section = -1
    for offset, values in islice(state.sequence.entries(), rows):
        path = state.path_of(offset)
        if path and path[0] != section:
            section = path[0]
            yield from _header(state.sections[section], len(state.columns))
        yield _line(values, values if before is None else before.get(state.key_of(values)))


def _header(section: Section, columns: int) -> Iterator[str]:
    if section.name == "" and section.index_title == "":
        # A list without sections has one that is named so.
        return
    name = "NULL" if section.name is None else _text(section.name)
    notes = [f"{section.count:,}", *_totals(section.totals)]
    yield (
        f'<tr class="section"><th colspan="{columns}">{html.escape(name)} '
        f'<span class="count">{html.escape(" · ".join(notes))}</span></th></tr>'
    )


def _line(values: Values, before: Optional[Values]) -> str:
    if before is None:
        return f'<tr class="inserted">{"".join(_cell(value, False) for value in values)}</tr>'
    changed = [len(before) != len(values) or before[index] != value for index, value in enumerate(values)]
    return f"<tr>{''.join(map(_cell, values, changed))}</tr>"


def _cell(value: Any, is_changed: bool) -> str:
    kinds: List[Tuple[str, bool]] = [
        ("number", isinstance(value, (int, float))),
        ("null", value is None),
        ("changed", is_changed),
    ]
    classes = " ".join(name for name, is_so in kinds if is_so)
    attribute = f' class="{classes}"' if classes else ""
    return f"<td{attribute}>{html.escape('NULL' if value is None else _text(value))}</td>"


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


def _notes(state: ListState[Any], rows: int, status: str) -> Iterator[str]:
    shown = min(rows, state.sequence.held)
    yield f"{state.total:,} rows" if shown == state.total else f"{shown:,} of {state.total:,} rows"
    yield from _totals(state.totals)
    yield from _totals(state.alongside)
    if status not in ("", "live"):
        yield status


def _totals(totals: Mapping[str, Any]) -> List[str]:
    return [f"{name} {'NULL' if value is None else _text(value)}" for name, value in totals.items()]

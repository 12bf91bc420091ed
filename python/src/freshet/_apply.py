"""Applies a message to a list: the client's half of docs/protocol.md 3.3, as a function from state and message to the next state.

A patch costs O(changes * log rows + sections), whatever the size of the result.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._errors import MismatchError
from ._rows import Row
from ._sequence import RowSequence
from ._state import ListState, Window
from ._steps import PatchSteps, section_of
from ._values import Message, Values, decoded_members, rows_of, values_of


def apply(state: ListState[Row], message: Message) -> ListState[Row]:
    """The state after a `snapshot`, `rows` or `patch`. MismatchError when it does not fit: then `resync` is to be asked for."""
    try:
        handler = {"snapshot": _snapshot, "rows": _with_rows, "patch": _patched}[message["type"]]
    except KeyError:
        raise MismatchError(f"{message.get('type')} changes no list") from None
    return _checked(handler(state, message), message.get("total"))


def _window_of(message: Message) -> Optional[Window]:
    window = message.get("window")
    return Window(window["offset"], window["limit"]) if window else None


def _snapshot(state: ListState[Row], message: Message) -> ListState[Row]:
    sections = tuple(section_of(section) for section in message["sections"])
    columns = tuple(message["columns"])
    return ListState(
        state.maker,
        columns=columns,
        key=tuple(message["key"]),
        sections=sections,
        window=_window_of(message),
        version=message["version"],
        commit=message["commit"],
        totals=decoded_members(message.get("totals")),
        alongside=decoded_members(message.get("alongside")),
        is_complete=message.get("complete", True),
        sequence=_placed(RowSequence.hole(sum(section.count for section in sections)), message, columns),
    )


def _with_rows(state: ListState[Row], message: Message) -> ListState[Row]:
    """The continuation of a snapshot, or the answer to `window`."""
    if message["version"] != state.version:
        raise MismatchError("rows of another version")
    window = _window_of(message)
    return state.replacing(
        window=window or state.window,
        is_complete=message["complete"] or (state.is_complete and window is None),
        sequence=_within(_placed(state.sequence, message, state.columns), window or state.window),
    )


def _patched(state: ListState[Row], patch: Message) -> ListState[Row]:
    if not state.is_complete:
        raise MismatchError("a patch before the snapshot was complete")
    if patch["from"] != state.version:
        raise MismatchError("a patch from another version")
    steps = PatchSteps(patch, state.sections)
    rest, carried = _taken_out(state.sequence, steps, patch)
    sequence = _put_in(rest, steps, patch, carried, state.columns)
    sequence = _merged(sequence, steps, patch, state.columns)
    for offset, row in patch.get("filled", ()):
        if not 0 <= offset < len(sequence):
            raise MismatchError(f"no row at offset {offset}")
        sequence = sequence.replacing(offset, 1, RowSequence.of([values_of(row, state.columns)]))
    window = _window_of(patch) or state.window
    return state.replacing(
        sections=steps.sections,
        window=window,
        version=patch["to"],
        commit=patch["commit"],
        totals=_updated(state.totals, patch.get("totals")),
        alongside=_updated(state.alongside, patch.get("alongside")),
        sequence=_within(sequence, window),
    )


def _updated(members: Mapping[str, Any], changes: Optional[Message]) -> Mapping[str, Any]:
    return {**members, **decoded_members(changes)} if changes else members


def _taken_out(sequence: RowSequence, steps: PatchSteps, patch: Message) -> Tuple[RowSequence, Dict[int, Optional[Values]]]:
    """Steps 1 and 2: removes rows, and keeps those that move by their old offsets."""
    offsets = [steps.old_offset(move[0]) for move in patch.get("moved", ())]
    carried = {offset: sequence.at(offset) for offset in offsets}
    for start, count in reversed(steps.removals):
        sequence = sequence.replacing(start, count)
    return sequence, carried


def _put_in(
    sequence: RowSequence,
    steps: PatchSteps,
    patch: Message,
    carried: Dict[int, Optional[Values]],
    columns: Tuple[str, ...],
) -> RowSequence:
    """Steps 3 and 4: inserts new and moved rows, ascending. A row without contents is a hole."""
    contents: Dict[int, List[Values]] = {}
    for index, section in patch.get("sectionsInserted", ()):
        if section.get("rows"):
            contents[steps.new_offset((index, 0))] = rows_of(section["rows"], columns)
    for inserted in patch.get("inserted", ()):
        if len(inserted) > 2:
            contents[steps.new_offset(inserted)] = [values_of(inserted[2], columns)]
    for move in patch.get("moved", ()):
        row = carried[steps.old_offset(move[0])]
        if row is not None:
            contents[steps.new_offset(move[1])] = [row]
    for start, count in steps.insertions:
        if start > len(sequence):
            raise MismatchError(f"no place {start} for a row")
        rows = contents.get(start)
        if rows is not None and len(rows) != count:
            raise MismatchError("a section with another number of rows than it says")
        sequence = sequence.replacing(start, 0, RowSequence.hole(count) if rows is None else RowSequence.of(rows))
    return sequence


def _merged(sequence: RowSequence, steps: PatchSteps, patch: Message, columns: Tuple[str, ...]) -> RowSequence:
    """Step 5: rows with what changes in them."""
    for change in (*patch.get("moved", ()), *patch.get("updated", ())):
        changes = decoded_members(change[2]) if len(change) > 2 else {}
        if not changes:
            continue
        offset = steps.new_offset(change[1])
        row = sequence.at(offset)
        if row is None:
            raise MismatchError("changes of a row that is not held")
        merged = tuple([changes.get(column, value) for column, value in zip(columns, row)])
        sequence = sequence.replacing(offset, 1, RowSequence.of([merged]))
    return sequence


def _placed(sequence: RowSequence, message: Message, columns: Tuple[str, ...]) -> RowSequence:
    """Puts in the rows of a message."""
    rows = message["rows"]
    if not rows:
        return sequence
    offset: int = message["offset"]
    if not 0 <= offset <= len(sequence) - len(rows):
        raise MismatchError("rows beyond the end")
    return sequence.replacing(offset, len(rows), RowSequence.of(rows_of(rows, columns)))


def _within(sequence: RowSequence, window: Optional[Window]) -> RowSequence:
    return sequence.keeping(window.offset, window.offset + window.limit) if window else sequence


def _checked(state: ListState[Row], total: Optional[int]) -> ListState[Row]:
    """Checks the numbers of all rows and of held rows against the server's. A difference means that the client's state
    is wrong."""
    if total is not None and total != state.total:
        raise MismatchError(f"{state.total} rows where the server has {total}")
    offset, limit = state.window or (0, state.total)
    wanted = max(0, min(limit, state.total - offset))
    if state.is_complete and state.sequence.held != wanted:
        raise MismatchError(f"{state.sequence.held} rows held where {wanted} are wanted")
    return state

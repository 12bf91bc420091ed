"""One step of a live list, as yielded by iterating it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, List, Optional, Tuple

from ._rows import Row
from ._state import ListState
from ._values import Message


@dataclass(frozen=True)
class Differences(Generic[Row]):
    """The differences of the rows that two states hold, matched by their keys."""

    inserted: List[Row]
    deleted: List[Row]
    #: Rows before and after.
    updated: List[Tuple[Row, Row]]


@dataclass(frozen=True)
class Change(Generic[Row]):
    """From one state of a list to a later one."""

    #: `patch`; `snapshot`: everything is replaced; `rows`: the contents of a new window came; `several`: the reader was
    #: slower than the list, and skips to the newest state.
    kind: str
    #: The list as it is now.
    state: ListState[Row]
    #: The state that the reader had last; None at first.
    before: Optional[ListState[Row]]
    #: The server's message that led from `before` to `state` (docs/protocol.md, 3.2); None for `several`, and at first.
    message: Optional[Message]

    @property
    def patch(self) -> Optional[Message]:
        """The patch that leads from `before` to `state`: index paths of what was deleted, inserted, moved and updated."""
        return self.message if self.kind == "patch" else None

    def differences(self) -> Differences[Row]:
        """Inserted, deleted and changed rows, among those held before and after. The cost is proportional to the held
        rows."""
        after = self.state
        before = after.replacing(sequence=None) if self.before is None else self.before
        old = {before.key_of(values): values for values in before.values}
        inserted, updated = [], []
        for values in after.values:
            former = old.pop(after.key_of(values), None)
            if former is None:
                inserted.append(values)
            elif former != values:
                updated.append((former, values))
        return Differences(
            after.maker.rows(inserted, after.columns),
            [before.maker.row(values, before.columns) for values in old.values()],
            [(before.maker.row(former, before.columns), after.maker.row(values, after.columns)) for former, values in updated],
        )

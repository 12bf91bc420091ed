"""The coordinates of one patch, docs/protocol.md 3.3: which rows are removed and inserted, and where all rows are
afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, List, Sequence, Tuple

from ._errors import MismatchError
from ._state import Section, starts
from ._values import Message, decoded, decoded_members

#: First offset, and number of rows.
Interval = Tuple[int, int]


class PatchSteps:
    """Old and new sections of a patch, and the intervals of offsets that it takes out and puts in, ascending."""

    def __init__(self, patch: Message, before: Sequence[Section]) -> None:
        moved = patch.get("moved", ())
        gone = [*patch.get("deleted", ()), *(move[0] for move in moved)]
        come = [*patch.get("inserted", ()), *(move[1] for move in moved)]
        self._old_starts = starts(before)
        self.sections = _sections_after(patch, before, gone, come)
        self._new_starts = starts(self.sections)
        self.removals: List[Interval] = sorted(
            [*((self.old_offset(path), 1) for path in gone)]
            + [_extent(self._old_starts, index) for index in patch.get("sectionsDeleted", ())]
        )
        self.insertions: List[Interval] = sorted(
            [*((self.new_offset(path), 1) for path in come)]
            + [_extent(self._new_starts, index) for index, _ in patch.get("sectionsInserted", ())]
        )

    def old_offset(self, path: Sequence[int]) -> int:
        """The offset of a path in old coordinates."""
        return _offset(self._old_starts, path)

    def new_offset(self, path: Sequence[int]) -> int:
        """The offset of a path in new coordinates."""
        return _offset(self._new_starts, path)


def section_of(message: Message) -> Section:
    """A section as messages carry it, without rows."""
    return Section(decoded(message["name"]), message["indexTitle"], message["count"], decoded_members(message.get("totals")))


def _offset(boundaries: List[int], path: Sequence[int]) -> int:
    section, item = path[0], path[1]
    start, count = _extent(boundaries, section)
    if not 0 <= item < count:
        raise MismatchError(f"no row {item} in section {section}")
    return start + item


def _extent(boundaries: List[int], index: int) -> Interval:
    if not 0 <= index < len(boundaries) - 1:
        raise MismatchError(f"no section {index}")
    return boundaries[index], boundaries[index + 1] - boundaries[index]


def _sections_after(patch: Message, before: Sequence[Section], gone: Sequence[Any], come: Sequence[Any]) -> Tuple[Section, ...]:
    after = list(before)

    def at(index: int) -> Section:
        if not 0 <= index < len(after):
            raise MismatchError(f"no section {index}")
        return after[index]

    def count(index: int, by: int) -> None:
        after[index] = replace(at(index), count=at(index).count + by)

    for path in gone:
        count(path[0], -1)
    for index in patch.get("sectionsDeleted", ()):
        at(index)
        del after[index]
    for index, section in patch.get("sectionsInserted", ()):
        after.insert(index, section_of(section))
    for path in come:
        count(path[0], 1)
    for index, changes in patch.get("sectionTotals", ()):
        after[index] = replace(at(index), totals={**at(index).totals, **decoded_members(changes)})
    return tuple(after)

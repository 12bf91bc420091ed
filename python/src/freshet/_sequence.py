"""Rows by offset, as an immutable sequence with holes where contents are not held.

A change makes a new sequence that shares all but O(log n) of the old one, so that a patch costs what it changes, and the old
sequence stays valid. A balanced binary tree: leaves are short lists or holes of any length, and joining two trees (the one operation
everything is made of) restores the balance on the way, as AVL trees do.
"""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Sequence, Tuple

from ._values import Values

_LEAF_SIZE = 64


class _Node:
    """A leaf has `rows`, a branch has `left` and `right`, and a hole has neither."""

    __slots__ = ("height", "held", "left", "length", "right", "rows")

    def __init__(
        self, length: int, held: int, height: int = 0, rows: Optional[Sequence[Values]] = None,
        left: Optional[_Node] = None, right: Optional[_Node] = None,
    ) -> None:  # fmt: skip
        self.length = length
        self.held = held
        self.height = height
        self.rows = rows
        self.left = left
        self.right = right


class RowSequence:
    """Rows by offset, with holes."""

    __slots__ = ("_root",)

    def __init__(self, root: _Node) -> None:
        self._root = root

    @classmethod
    def hole(cls, length: int) -> RowSequence:
        """Nothing but a hole."""
        return cls(_hole(length))

    @classmethod
    def of(cls, rows: Sequence[Values]) -> RowSequence:
        """All of `rows`, held."""
        return cls(_tree(rows, 0, len(rows)))

    def __len__(self) -> int:
        return self._root.length

    def __reduce__(self) -> Any:
        # Not node by node, which would be as deep as the tree.
        return _restored, (len(self), list(self.entries()))

    @property
    def held(self) -> int:
        """Rows whose contents are held."""
        return self._root.held

    @property
    def depth(self) -> int:
        """Levels of the tree: O(log n)."""
        return self._root.height

    def at(self, offset: int) -> Optional[Values]:
        """The row at an offset, in O(log n); None in a hole, and outside."""
        node = self._root
        if not 0 <= offset < node.length:
            return None
        while True:
            left, right = node.left, node.right
            if left is None or right is None:
                break
            if offset < left.length:
                node = left
            else:
                offset -= left.length
                node = right
        return None if node.rows is None else node.rows[offset]

    def replacing(self, offset: int, count: int, middle: Optional[RowSequence] = None) -> RowSequence:
        """The sequence with `count` rows at `offset` replaced by `middle`, in O(log n)."""
        before, rest = _split(self._root, offset)
        after = _split(rest, count)[1]
        return RowSequence(_join(before if middle is None else _join(before, middle._root), after))

    def keeping(self, first: int, last: int) -> RowSequence:
        """The sequence with contents from `first` to `last`, excluded, only."""
        if self.held == 0:
            return self
        head, rest = _split(self._root, min(first, len(self)))
        middle, tail = _split(rest, max(0, min(last, len(self)) - head.length))
        if head.held == 0 and tail.held == 0:
            return self
        return RowSequence(_join(_join(_hole(head.length), middle), _hole(tail.length)))

    def entries(self) -> Iterator[Tuple[int, Values]]:
        """Held rows with their offsets, ascending."""
        ahead: List[Tuple[_Node, int]] = [(self._root, 0)]
        while ahead:
            node, start = ahead.pop()
            if node.held == 0:
                continue
            if node.left is not None and node.right is not None:
                ahead.append((node.right, start + node.left.length))
                ahead.append((node.left, start))
            elif node.rows is not None:
                yield from enumerate(node.rows, start)


def _restored(length: int, entries: List[Tuple[int, Values]]) -> RowSequence:
    if not entries:
        return RowSequence.hole(length)
    first = entries[0][0]
    return RowSequence.hole(length).replacing(first, len(entries), RowSequence.of([row for _, row in entries]))


def _hole(length: int) -> _Node:
    return _Node(length, 0)


def _leaf(rows: Sequence[Values]) -> _Node:
    return _Node(len(rows), len(rows), 0, rows)


def _branch(left: _Node, right: _Node) -> _Node:
    return _Node(left.length + right.length, left.held + right.held, max(left.height, right.height) + 1, None, left, right)


def _tree(rows: Sequence[Values], start: int, end: int) -> _Node:
    if start == end:
        return _hole(0)
    if end - start <= _LEAF_SIZE:
        return _leaf(rows[start:end])
    middle = (start + end) >> 1
    return _branch(_tree(rows, start, middle), _tree(rows, middle, end))


def _merged(left: _Node, right: _Node) -> Optional[_Node]:
    """One leaf of two neighbours that fit into one; None when they do not."""
    if left.height > 0 or right.height > 0:
        return None
    if left.rows is None and right.rows is None:
        return _hole(left.length + right.length)
    if left.rows is not None and right.rows is not None and left.length + right.length <= _LEAF_SIZE:
        return _leaf([*left.rows, *right.rows])
    return None


def _join(left: _Node, right: _Node) -> _Node:
    if left.length == 0:
        return right
    if right.length == 0:
        return left
    # The lower tree goes down the inner edge of the higher one, to its place or to a leaf that takes it in.
    if left.left is not None and left.right is not None and left.height > right.height + (right.height > 0):
        return _balanced(left.left, _join(left.right, right))
    if right.left is not None and right.right is not None and right.height > left.height + (left.height > 0):
        return _balanced(_join(left, right.left), right.right)
    return _merged(left, right) or _branch(left, right)


def _balanced(left: _Node, right: _Node) -> _Node:
    """A branch of two trees whose heights differ by two at most."""
    if left.height > right.height + 1:
        outer, inner = _children(left)
        if outer.height >= inner.height:
            return _branch(outer, _branch(inner, right))
        near, far = _children(inner)
        return _branch(_branch(outer, near), _branch(far, right))
    if right.height > left.height + 1:
        inner, outer = _children(right)
        if outer.height >= inner.height:
            return _branch(_branch(left, inner), outer)
        near, far = _children(inner)
        return _branch(_branch(left, near), _branch(far, outer))
    return _branch(left, right)


def _children(node: _Node) -> Tuple[_Node, _Node]:
    assert node.left is not None and node.right is not None
    return node.left, node.right


def _split(node: _Node, offset: int) -> Tuple[_Node, _Node]:
    if offset <= 0:
        return _hole(0), node
    if offset >= node.length:
        return node, _hole(0)
    if node.left is not None and node.right is not None:
        if offset < node.left.length:
            before, after = _split(node.left, offset)
            return before, _join(after, node.right)
        before, after = _split(node.right, offset - node.left.length)
        return _join(node.left, before), after
    if node.rows is None:
        return _hole(offset), _hole(node.length - offset)
    return _leaf(node.rows[:offset]), _leaf(node.rows[offset:])

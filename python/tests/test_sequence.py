"""Rows by offset: random changes, each compared with a plain list."""

import pickle
import random

import pytest
from support import seeds

from freshet._sequence import RowSequence


@pytest.mark.parametrize("seed", seeds(8))
def test_random_changes(seed):
    numbers = random.Random(seed)
    sequence, plain = RowSequence.hole(0), []
    for step in range(200):
        before, kept = sequence, list(plain)
        offset = numbers.randint(0, len(plain))
        count = numbers.randint(0, min(numbers.choice([1, 3, 100]), len(plain) - offset))
        size = numbers.choice([0, 1, 1, 2, 70, 300])
        if numbers.random() < 0.2:
            rows, middle = [None] * size, RowSequence.hole(size)
        else:
            rows = [(step, index) for index in range(size)]
            middle = RowSequence.of(rows)
        sequence = sequence.replacing(offset, count, middle)
        plain[offset : offset + count] = rows
        if numbers.random() < 0.1:
            first = numbers.randint(0, len(plain) + 3)
            last = first + numbers.randint(0, 200)
            sequence = sequence.keeping(first, last)
            plain = [row if first <= index < last else None for index, row in enumerate(plain)]
        check(sequence, plain)
        check(before, kept)
    assert sequence.depth <= 2 * max(1, len(plain)).bit_length()


def check(sequence, plain):
    held = [(index, row) for index, row in enumerate(plain) if row is not None]
    assert len(sequence) == len(plain)
    assert sequence.held == len(held)
    assert list(sequence.entries()) == held
    for index in range(-1, len(plain) + 1, 7):
        assert sequence.at(index) == (plain[index] if 0 <= index < len(plain) else None)


def test_a_million_rows_are_changed_in_little():
    sequence = RowSequence.of([(index,) for index in range(1_000_000)])
    changed = sequence.replacing(500_000, 1, RowSequence.of([("new",)]))
    assert changed.at(500_000) == ("new",)
    assert sequence.at(500_000) == (500_000,)
    assert changed.depth <= sequence.depth + 1


def test_sequences_are_pickled():
    sequence = RowSequence.hole(100).replacing(40, 3, RowSequence.of([(1,), (2,), (3,)]))
    again = pickle.loads(pickle.dumps(sequence))
    assert (len(again), list(again.entries())) == (100, [(40, (1,)), (41, (2,)), (42, (3,))])
    assert len(pickle.loads(pickle.dumps(RowSequence.hole(7)))) == 7

"""Values as JSON carries them."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from freshet._values import decoded, encoded, encoded_parameters, encoded_value, values_of


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (None, None), ("é\u2028\x00", "é\u2028\x00"), (0, 0), (True, 1), (1.5, 1.5), (2**53 - 1, 2**53 - 1),
        (2**53, {"$int": "9007199254740992"}), (-(2**63), {"$int": "-9223372036854775808"}),
        (b"", {"$blob": ""}), (b"\x00\xff", {"$blob": "AP8="}), (bytearray(b"\x00"), {"$blob": "AA=="}),
    ],
)  # fmt: skip
def test_values_go_there_and_back(value, wire):
    assert encoded_value(value) == wire
    back = decoded(json.loads(encoded({"value": encoded_value(value)}))["value"])
    assert back == value
    if not isinstance(value, (bool, bytearray)):
        assert type(back) is type(value)


def test_infinity_is_1e999_and_nan_is_null():
    text = encoded({"values": encoded_parameters([float("inf"), float("-inf"), float("nan")])})
    assert text == '{"values":[1e999,-1e999,null]}'
    assert json.loads(text)["values"] == [float("inf"), float("-inf"), None]


@pytest.mark.parametrize("value", [Decimal("1.5"), Fraction(1, 2), [1], {"a": 1}, object(), 1j])
def test_what_sqlite_has_nothing_like_is_refused(value):
    with pytest.raises(TypeError, match="SQLite has no values like"):
        encoded_value(value)


def test_numbers_of_other_libraries_are_numbers():
    numpy = pytest.importorskip("numpy")
    assert encoded_value(numpy.int64(2**60)) == {"$int": str(2**60)}
    assert encoded_value(numpy.float64(0.5)) == 0.5
    assert encoded_value(numpy.float32(0.5)) == 0.5


def test_text_is_no_sequence_of_parameters():
    with pytest.raises(TypeError):
        encoded_parameters("abc")


def test_rows_may_be_objects():
    assert values_of({"b": {"$int": "1"}, "a": None}, ["a", "b"]) == (None, 1)

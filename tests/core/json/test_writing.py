"""What is written as JSON: any value that a reader of JSON accepts, whole."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.json.writing import MAX_LEVELS, TOO_DEEP, write_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**40), 10**40)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


@dataclass(frozen=True, slots=True)
class Told:
    at: datetime
    id: UUID
    number: int
    colour: Colour = Colour.RED
    size: Size = Size.LARGE
    _hidden: str = "x"


@given(VALUES)
def test_what_python_reads_is_written_with_every_digit(value: Any) -> None:
    assert json.loads(write_json(json.loads(json.dumps(value)))) == value


@pytest.mark.parametrize("digits", [20, 4_000, 20_000])
def test_an_integer_of_any_size_keeps_its_digits(digits: int) -> None:
    number = 10**digits + 7

    assert write_json({"n": [-number]}) == b'{"n":[-1' + b"0" * (digits - 1) + b"7]}"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\ud800b", "a�b"),
        ({"\udfff": ["\udc80"]}, {"�": ["�"]}),
        ([float("nan"), float("inf"), 2**64], [None, None, 2**64]),
        ((1, ("\ud800",)), [1, ["�"]]),
        ({7: 2**64}, {"7": 2**64}),
    ],
)
def test_what_no_json_holds_is_replaced(value: Any, written: Any) -> None:
    assert json.loads(write_json(value)) == written


def test_other_values_are_written_as_before_beside_a_large_integer() -> None:
    at, key = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), UUID(int=7)
    few = Told(at, key, 7)

    usual = json.loads(write_json([few, {"s": {1, 2}}], default=sorted, option=orjson.OPT_UTC_Z))
    large = json.loads(
        write_json([few, {"s": {1, 2}}, 2**64], default=sorted, option=orjson.OPT_UTC_Z)
    )

    assert large == [*usual, 2**64]
    assert usual[0] == {
        "at": "2030-01-02T03:04:05Z",
        "id": str(key),
        "number": 7,
        "colour": "red",
        "size": 3,
    }


def test_what_is_nested_too_deeply_is_cut() -> None:
    value: Any = "inmost"
    for _ in range(5_000):
        value = [value]

    found = write_json({"deep": value, "other": 1})

    assert found.endswith(b',"other":1}')
    assert found.count(b"[") == MAX_LEVELS - 1
    assert TOO_DEEP.encode() in found


def test_a_type_that_is_not_json_is_an_error() -> None:
    with pytest.raises(TypeError, match="object"):
        write_json({"a": object()})

"""Properties of any bytes are read without an error, and headers of any values can be copied."""

import math
import struct
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pamqp import encode
from pamqp.header import ContentHeader

from mailqueue.adapters.rabbitmq.encodable import MAX_HEADER_BYTES, headers_of_copy
from mailqueue.adapters.rabbitmq.frames import UNREADABLE, readable_delivery, readable_header
from mailqueue.adapters.rabbitmq.properties import read_properties
from tests.bridge import raw
from tests.bridge.raw import RawProperties, field, long, nested, short, table

BEFORE = struct.pack(">HHQ", 60, 0, 3)
ALL_FLAGS = 0xFFFC
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
)
NAMES = st.text(max_size=255)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)


def decoded(payload: bytes) -> ContentHeader:
    header = ContentHeader()
    header.unmarshal(payload)
    return header


@given(st.integers(0, 0xFFFF), st.binary(max_size=200))
def test_pamqp_decodes_what_is_made_of_any_bytes(flags: int, values: bytes) -> None:
    header = decoded(readable_header(BEFORE + struct.pack(">H", flags) + values))

    assert header.body_size == 3
    assert header.properties.delivery_mode in (None, 0, 1, 2)
    if header.properties.expiration is not None:
        assert float(header.properties.expiration) >= 0


@given(st.sampled_from("tbBsuIilLfdDSATFVxQ\0"), st.binary(max_size=60))
def test_pamqp_decodes_headers_that_are_made_of_any_bytes(kind: str, value: bytes) -> None:
    raw_ = RawProperties(raw.HEADERS, table(field(b"a", kind.encode(), value)))

    decoded(readable_header(BEFORE + raw_.raw))


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_headers_of_any_values_can_be_written(headers: dict[str, Any]) -> None:
    encode.field_table(headers_of_copy(headers))


@pytest.mark.parametrize(
    ("flags", "values", "problem"),
    [
        (raw.HEADERS, table(field(b"a", b"Q", b"")), "headers: unknown type of value b'Q'"),
        (raw.HEADERS, b"\0\0\0\x40ab", "headers: cut short"),
        (raw.HEADERS, table(field(b"a", b"A", b"\0\0\0\x40")), "headers: cut short"),
        (raw.HEADERS, nested(101), "headers: nested more than 100 levels"),
        (raw.EXPIRATION, short(b"soon"), "expiration: milliseconds are needed"),
        (raw.DELIVERY_MODE, b"\7", "delivery_mode: 1 or 2 is needed, got 7"),
        (raw.MESSAGE_ID, b"\x20ab", "message_id: cut short"),
        (1, b"\0\0", "properties: flags: one word is needed"),
    ],
)
def test_what_is_wrong_is_said(flags: int, values: bytes, problem: str) -> None:
    payload = readable_header(BEFORE + struct.pack(">H", flags) + values)

    headers = decoded(payload).properties.headers
    assert headers is not None
    assert headers == {UNREADABLE: problem} or headers[UNREADABLE] == problem


def test_what_can_be_read_is_kept_beside_what_cannot() -> None:
    fields = table(
        field(b"first", b"S", long(b"one")),
        field(b"time", b"T", b"\xff" * 8),
        field(b"k\xff", b"t", b"\1"),
        field(b"list", b"A", long(b"b\1" + b"Q")),
        field(b"last", b"l", struct.pack(">q", 2**40)),
    )
    given_ = RawProperties(raw.HEADERS | raw.MESSAGE_ID, fields, short(b"id\xff"))

    found = decoded(readable_header(BEFORE + given_.raw)).properties

    assert found.message_id == "id\ufffd"
    assert found.headers is not None
    assert found.headers.pop(UNREADABLE) == (
        "headers: no time: 18446744073709551615; headers: not UTF-8; "
        "headers: unknown type of value b'Q'; message_id: not UTF-8"
    )
    assert found.headers == {
        "first": "one",
        "time": None,
        "k\ufffd": True,
        "list": [1],
        "last": 2**40,
    }


def test_properties_without_a_fault_are_passed_on_as_they_are() -> None:
    given_ = RawProperties(ALL_FLAGS & raw.HEADERS, nested(100))

    assert readable_header(BEFORE + given_.raw) == BEFORE + given_.raw
    assert read_properties(given_.raw).problems == []


def test_a_copy_is_not_routed_by_its_headers_and_fits_in_a_frame() -> None:
    assert headers_of_copy({"CC": ["orders"], "BCC": ["orders"], "a": -1, "b": Decimal("1.5")}) == {
        "a": "-1",
        "b": "1.5",
    }
    assert headers_of_copy({"a": math.pi, "b": 0.5}) == {"a": str(math.pi), "b": 0.5}
    large = {"a": "x" * MAX_HEADER_BYTES}
    assert headers_of_copy(large) == {"mailqueue-headers": "left out: more than 64 KiB"}


def test_a_delivery_with_names_that_are_not_utf8_can_be_decoded() -> None:
    before = struct.pack(">HH", 60, 60) + short(b"ctag") + struct.pack(">QB", 7, 0)

    assert readable_delivery(before + short(b"x") + short(b"k")) == before + short(b"x") + short(
        b"k"
    )
    found = readable_delivery(before + short(b"\xff") + short(b"\xff" * 255))
    assert found == before + short("\ufffd".encode()) + short("\ufffd".encode() * 85)

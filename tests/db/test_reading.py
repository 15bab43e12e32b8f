"""A value that cannot be read does not affect others, and every value read can be written again."""

import json
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.json.reading import (
    MAX_LEVELS,
    PartlyRead,
    Unreadable,
    read_exactly,
    read_json,
)
from mailqueue.db.fetch import Conn, many
from mailqueue.db.reading import FIRST, LAST
from mailqueue.db.sql import ManyRows

anyio = pytest.mark.anyio
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    | st.integers(-(2**63), 2**64 - 1),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


class Read(NamedTuple):
    n: int
    at: datetime | None
    here: datetime | None
    day: date | None
    span: timedelta | None
    data: Any


ROWS = """
    SELECT * FROM (VALUES
        (1, now(), now()::timestamp, current_date, interval '1 day', '{"a": 1}'::jsonb),
        (2, 'infinity', 'infinity', 'infinity', '2147483647 days', '{"a": 1e400}'),
        (3, '-infinity', '-infinity', '-infinity', '-2147483647 days', '[1, 2]'),
        (4, '294276-12-31', '294276-12-31', '5874897-12-31', '0', 'null'),
        (5, '4713-01-01 BC', '4713-01-01 BC', '4713-01-01 BC', '0', '"x"'),
        (6, '9999-12-31T23:59:59-12:00', '9999-12-31', '9999-12-31', '0', NULL),
        (7, NULL, NULL, NULL, NULL, (repeat('[', 6000) || repeat(']', 6000))::jsonb)
    ) AS v(n, at, here, day, span, data) ORDER BY n"""


class ReadTime(NamedTuple):
    at: time


@anyio
async def test_the_end_of_a_day_is_read_as_its_last_microsecond(conn: Conn) -> None:
    query = b"SELECT * FROM (VALUES (time '24:00'), ('23:59:59'), ('00:00')) AS v(at)"

    rows = await many(conn, ManyRows("tried", query), None, ReadTime)

    assert [row.at for row in rows] == [time.max, time(23, 59, 59), time.min]


@anyio
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Niue"])
async def test_a_row_with_a_value_python_lacks_is_read_with_the_nearest(
    conn: Conn, zone: str
) -> None:
    await conn.execute(f"SET TIME ZONE '{zone}'".encode())

    rows = await many(conn, ManyRows("tried", ROWS.encode()), None, Read)

    assert [one.n for one in rows] == [1, 2, 3, 4, 5, 6, 7]
    plain, late, early, far, ancient, edge, deep = rows
    assert plain.at is not None
    assert abs(plain.at - datetime.now(UTC)) < timedelta(hours=1)
    assert (late.at, late.day, late.span) == (LAST, LAST.date(), timedelta.max)
    assert (early.at, early.day, early.span) == (FIRST, FIRST.date(), timedelta.min)
    assert (far.at, far.day, ancient.at, ancient.day) == (LAST, LAST.date(), FIRST, FIRST.date())
    assert edge.at == LAST
    assert (late.here, early.here) == (LAST.replace(tzinfo=None), FIRST.replace(tzinfo=None))
    assert (late.data["a"][:3], isinstance(late.data, PartlyRead)) == ("100", True)
    assert orjson.dumps(deep.data)
    for one in rows:
        assert one.at is None or one.at.astimezone().isoformat()


@pytest.mark.parametrize("read", [read_json, read_exactly])
def test_json_beyond_a_reader_is_text_where_it_is_and_the_rest_is_read(read: Any) -> None:
    deep = "[" * 1_100 + "1" + "]" * 1_100
    text = f'{{"a": {deep}, "b": [1.5, {"9" * 5_000}, -1, true, null, "[\\"{{"], "c": {{"d": ""}}}}'

    for given_ in (text, text.encode()):
        found = read(given_)

        assert isinstance(found, PartlyRead)
        assert found["b"] == [1.5, "9" * 5_000, -1, True, None, '["{']
        assert isinstance(found["b"][1], Unreadable)
        assert found["c"] == {"d": ""}
        inner, levels = found["a"], 1
        while isinstance(inner, list):
            inner, levels = inner[0], levels + 1
        assert levels == MAX_LEVELS
        assert inner == deep[MAX_LEVELS - 1 : 1 - MAX_LEVELS]
        assert orjson.loads(orjson.dumps({"wrapped": [found]})) == json.loads(
            json.dumps({"wrapped": [found]})
        )


def test_a_megabyte_of_brackets_is_read() -> None:
    for text in ("[" * 500_000 + "]" * 500_000, '{"a":' * 200_000 + "1" + "}" * 200_000):
        assert orjson.dumps(read_json(text))
        assert json.dumps(read_exactly(text))
    assert read_json('["' + "[" * 1_000_000 + '"]') == ["[" * 1_000_000]


@given(VALUES)
def test_what_can_be_read_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value)

    assert read_json(text) == orjson.loads(text)
    assert read_exactly(text) == value
    assert not isinstance(read_json(text), PartlyRead)


@given(VALUES)
def test_the_rest_of_what_is_read_in_part_is_as_it_is(value: Any) -> None:
    text = '{"x": 1e999999, "value": ' + json.dumps(value) + "}"

    found = read_json(text)

    assert found["x"] == "1e999999"
    assert found["value"] == orjson.loads(json.dumps(value))


@pytest.mark.parametrize("text", ["", "]", '"', '{"a": 1e999, "b', "nonsense 1e999"])
def test_what_is_no_json_is_given_as_it_is(text: str) -> None:
    assert read_json(text) == text

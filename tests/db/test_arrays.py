"""PostgreSQL reads the arrays that mailqueue writes as the same values."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailqueue.db import arrays
from mailqueue.db.fetch import Conn
from tests.make import scalar

pytestmark = pytest.mark.anyio

STORABLE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
LONG_AGO, FAR_OFF = timedelta(days=-10_000), timedelta(days=10_000)
patient = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@patient
@given(values=st.lists(st.none() | STORABLE))
async def test_texts_come_back_as_they_are(conn: Conn, values: list[str | None]) -> None:
    assert await scalar(conn, "SELECT %s::text[]", arrays.texts(values)) == values


@pytest.mark.parametrize("text", ["", "NULL", "null", '"', "\\", '\\"', "{}", ",", " a ", "a\nb"])
async def test_texts_that_look_like_syntax_come_back_as_they_are(conn: Conn, text: str) -> None:
    assert await scalar(conn, "SELECT %s::text[]", arrays.texts([text, None])) == [text, None]


@patient
@given(values=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
async def test_integers_come_back_as_they_are(conn: Conn, values: list[int | None]) -> None:
    assert await scalar(conn, "SELECT %s::bigint[]", arrays.integers(values)) == values


@patient
@given(values=st.lists(st.none() | st.timedeltas(LONG_AGO, FAR_OFF)))
async def test_intervals_come_back_as_they_are(conn: Conn, values: list[timedelta | None]) -> None:
    assert await scalar(conn, "SELECT %s::interval[]", arrays.intervals(values)) == values


@pytest.mark.parametrize("values", [[], [uuid4()], [UUID(int=0), uuid4(), UUID(int=2**128 - 1)]])
async def test_uuids_come_back_as_they_are(conn: Conn, values: list[UUID]) -> None:
    assert await scalar(conn, "SELECT %s::uuid[]", arrays.uuids(values)) == values


async def test_booleans_come_back_as_they_are(conn: Conn) -> None:
    values = [True, False, True]

    assert await scalar(conn, "SELECT %s::boolean[]", arrays.booleans(values)) == values

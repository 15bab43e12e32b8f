"""Cron expressions that are refused, each naming the field, and what is accepted has times."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import errors

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.schedules import recurrence

pytestmark = pytest.mark.anyio
START = datetime.fromisoformat("2026-01-01T00:00")
REFUSED = [
    "0 0 30 2 *",
    "0 0 31 4,6,9,11 *",
    "0 9 * *",
    "0 0 9 * * *",
    "0 0 9 * * * 2026",
    "@reboot",
    "@every 5m",
    "",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * * 13 *",
    "* * * * 8",
    "*/0 * * * *",
    "*/61 * * * *",
    "5-1 * * * *",
    "0 9 * * fri-mon",
    "0 9 15W * *",
    "0 9 L-3 * *",
    "H H * * *",
    "R R * * *",
    "0 9 1 * mon#1",
    "0 9 * * mon#6",
    "0 9 * * #1",
    "1,,2 * * * *",
    "1/5 * * * *",
    "\u0661 * * * *",
    "*\n* * * *",
    "0 9 * * mon; DROP TABLE x",
    "1," * 100 + "1 * * * *",
]


@pytest.mark.parametrize("cron", REFUSED)
async def test_an_expression_that_cannot_be_is_refused_naming_the_field(
    conn: Conn, cron: str
) -> None:
    with pytest.raises(errors.InvalidParameterValue) as refused:
        async with conn.transaction():
            await conn.execute("SELECT mailqueue.check_cron(%s)", [cron])
    assert refused.value.diag.column_name == "cron_expression"


@settings(max_examples=150, derandomize=True)
@given(
    fields=st.lists(
        st.text(alphabet="0123456789*/-,#?Llmonsunjafe ", min_size=1, max_size=12),
        min_size=5,
        max_size=5,
    )
)
async def test_what_sql_accepts_has_times(shared_conn: Conn, fields: list[str]) -> None:
    """Each hostile expression ends in a bounded search, and never in another error."""
    cron = " ".join(fields)
    try:
        async with shared_conn.transaction(force_rollback=True):
            await shared_conn.execute("SELECT mailqueue.check_cron(%s)", [cron])
    except errors.InvalidParameterValue:
        return
    found = recurrence.times_after(cron, START, 3)
    assert found == sorted(found)


def test_an_expression_of_another_form_is_refused_here_too() -> None:
    with pytest.raises(InvalidField, match="cron_expression"):
        recurrence.times_after("0 9 * * 9", START, 1)


def test_a_rare_expression_is_found_and_one_that_never_comes_has_no_times() -> None:
    leap = recurrence.times_after("0 0 * 2 1#5", START, 1)
    assert leap == [datetime.fromisoformat("2044-02-29")]
    assert recurrence.times_after("0 0 30 2 *", START, 1) == []

"""INSERT with tracking_token, max_retries and next_retry_at, and where their values are shown."""

from datetime import UTC, datetime, timedelta

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.claim.steps import claim, sent

pytestmark = pytest.mark.anyio
INSERT = (
    "INSERT INTO mailqueue.email_queue (recipient_email, subject, html_body, tracking_token,"
    " custom_data, max_retries, next_retry_at) VALUES ('ann@example.com', 'Hello', '<p>Hi', %s, %s,"
    " %s, %s) RETURNING id"
)
SHOWN = (
    "SELECT tracking_token, max_retries, max_attempts, next_retry_at, custom_data, status"
    " FROM mailqueue.emails WHERE id = %s"
)


async def test_the_columns_are_taken_and_shown(conn: Conn) -> None:
    later = datetime.now(UTC) + timedelta(hours=2)

    email = await make.scalar(conn, INSERT, "t-81", Jsonb({"order": 81}), 3, later)

    [found] = await make.rows(conn, SHOWN, email)
    kept = {"order": 81, "tracking_token": "t-81"}
    assert found == ("t-81", 3, 4, later, kept, "pending")


async def test_finished_mail_shows_them_and_its_attempt_the_data(conn: Conn) -> None:
    worker = await make.worker(conn)
    await make.sender_account(conn)
    email = await make.scalar(conn, INSERT, "t-82", None, 0, None)
    await sent(conn, await claim(conn, worker))

    [found] = await make.rows(conn, SHOWN, email)

    assert found == ("t-82", 0, 1, None, {"tracking_token": "t-82"}, "sent")
    data = "SELECT custom_data FROM mailqueue.attempts WHERE email_id = %s"
    assert await make.rows(conn, data, email) == [({"tracking_token": "t-82"},)]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        (("", None, None, None), "tracking_token"),
        (("x" * 101, None, None, None), "tracking_token"),
        (("a\nb", None, None, None), "tracking_token"),
        (("t", Jsonb([1]), None, None), "tracking_token"),
        ((None, None, -1, None), "max_retries"),
        ((None, None, 1000, None), "max_retries"),
        ((None, None, None, "infinity"), "next_retry_at"),
    ],
)
async def test_values_that_cannot_be_are_refused(
    conn: Conn, values: tuple[object, ...], field: str
) -> None:
    with pytest.raises(errors.InvalidParameterValue, match=f"^{field}: "):
        await conn.execute(INSERT, values)

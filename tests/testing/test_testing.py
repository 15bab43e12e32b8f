"""Applications test what they queue, in their transaction and as it would be sent."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import psycopg
import pytest

import mailqueue
from mailqueue.core.errors import ConfigError
from mailqueue.testing import (
    NotSent,
    assert_none_queued,
    assert_queued,
    drain,
    install,
    queued,
)
from tests.conftest import Server

Conn = psycopg.Connection[tuple[Any, ...]]


def order(conn: Conn, to: str, **options: Any) -> UUID:
    """Queue a mail about order 81."""
    return mailqueue.enqueue(conn, to, subject="Your order 81", text="It is on its way.", **options)


@pytest.fixture
def url(server: Server, fresh_db: str) -> str:
    """A test database, as its owner reaches it."""
    found = server.superuser_url(urlsplit(fresh_db).path[1:])
    install(found)
    return found


def test_what_a_transaction_queued_is_found_in_it_and_gone_after_its_rollback(url: str) -> None:
    with psycopg.connect(url) as conn:
        email_id = order(conn, "ann@example.com", tags=["order"])

        email = assert_queued(conn, to="ann@example.com", subject="Your order 81", tags=["order"])
        assert (email.id, email.text, email.status) == (email_id, "It is on its way.", "pending")
        with pytest.raises(AssertionError, match=r"no email is queued with to='bob@example\.com'"):
            assert_queued(conn, to="bob@example.com")
        with pytest.raises(AssertionError, match="no email should be queued with any content"):
            assert_none_queued(conn)
        conn.rollback()

        assert_none_queued(conn)


def test_an_unmatched_assertion_lists_what_is_queued(url: str) -> None:
    with psycopg.connect(url) as conn:
        for number in range(22):
            order(conn, f"ann{number}@example.com")
        with pytest.raises(AssertionError) as raised:
            assert_queued(conn, subject="Your order 82")
        with pytest.raises(AssertionError, match=r"^22 emails are queued with subject="):
            assert_queued(conn, subject="Your order 81")

    assert "to='ann19@example.com' subject='Your order 81'" in str(raised.value)
    assert str(raised.value).endswith("and 2 more")


def test_a_misspelt_field_is_named(url: str) -> None:
    with (
        psycopg.connect(url) as conn,
        pytest.raises(TypeError, match="no field recipient; it has id"),
    ):
        queued(conn, recipient="ann@example.com")


def test_draining_sends_what_is_due_and_nothing_that_is_later(url: str) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with psycopg.connect(url) as conn:
        order(conn, "Ann <ann@example.com>", cc=["cc@example.com"])
        order(conn, "bob@example.com", run_at=tomorrow)

    [email] = drain(url)

    assert email.recipients == ("ann@example.com", "cc@example.com")
    assert (email.subject, email.account) == ("Your order 81", "mailqueue-testing")
    assert email.text is not None
    assert email.text.strip() == "It is on its way."
    assert email.html is None
    assert email.message["To"] == "Ann <ann@example.com>"
    with psycopg.connect(url) as conn:
        assert [one.to for one in queued(conn)] == ["bob@example.com"]
        row = conn.execute(
            "SELECT status FROM mailqueue.emails WHERE id = %s", (email.id,)
        ).fetchone()
        assert row == ("sent",)
    assert drain(url) == []


def test_draining_says_why_an_email_is_not_sent(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailqueue.testing.sending.PATIENCE_SECONDS", 0.5)
    with psycopg.connect(url) as conn:
        conn.execute("UPDATE mailqueue.sender_accounts SET status = 'paused'")
        email_id = order(conn, "ann@example.com")

    with pytest.raises(NotSent, match=f"1 due and not sent; email {email_id} to ann@example.com: "):
        drain(url)


def test_a_database_with_mail_is_neither_installed_nor_drained(
    server: Server, fresh_db: str
) -> None:
    url = server.superuser_url(urlsplit(fresh_db).path[1:])
    with psycopg.connect(url) as conn:
        order(conn, "ann@example.com")

    with pytest.raises(ConfigError, match="has mail or sender accounts"):
        install(url)
    with pytest.raises(ConfigError, match=r"not prepared by mailqueue\.testing"):
        drain(url)
    with psycopg.connect(url) as conn:
        assert len(queued(conn)) == 1


def test_installing_twice_changes_nothing(url: str) -> None:
    install(url)

    with psycopg.connect(url) as conn:
        rows = conn.execute("SELECT name FROM mailqueue.sender_accounts").fetchall()
    assert rows == [("mailqueue-testing",)]

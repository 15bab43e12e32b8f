"""A project has a bounded number of connections that are logged in, on both ports together."""

import smtplib
from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.submission.programs import RunningSubmission, beside, handed_in, running

pytestmark = pytest.mark.anyio
PLAIN = b"From: shop@example.com\r\nSubject: Hi\r\n\r\nHello\r\n"


def logged_in(port: int, key: str) -> smtplib.SMTP:
    """Return a client on this machine, which may log in without TLS."""
    client = smtplib.SMTP("127.0.0.1", port, timeout=60)
    client.login("apikey", key)
    return client


def refused(smtp: RunningSubmission, key: str) -> str:
    """Return the reply to a login; the client quits then."""
    client = smtplib.SMTP("127.0.0.1", smtp.port, timeout=60)
    try:
        with pytest.raises(smtplib.SMTPAuthenticationError) as caught:
            client.login("apikey", key)
        return f"{caught.value.smtp_code} {caught.value.smtp_error!r}"
    finally:
        client.close()


def left(client: smtplib.SMTP) -> None:
    """Quit, and wait until the server has closed the connection."""
    client.putcmd("quit")
    assert client.getreply()[0] == 221
    assert client.sock is not None
    assert client.sock.recv(1) == b""
    client.close()


async def test_a_project_leaves_places_for_others_and_gets_its_own_back(
    module_db: str, database: Conn, tmp_path: Path
) -> None:
    await make.project(database, "other")
    theirs = (await issue_key(database, "other", "k", is_test=False)).key.reveal()

    def work(smtp: RunningSubmission) -> None:
        first = logged_in(smtp.port, smtp.key)
        second = smtplib.SMTP_SSL("localhost", smtp.tls_port, context=smtp.context(), timeout=60)
        second.login("apikey", smtp.key)
        for _ in range(3):
            assert "454 b'4.7.0 too many connections of your project" in refused(smtp, smtp.key)
        left(logged_in(smtp.port, theirs))
        handed_in(first, PLAIN)
        left(first)
        third = logged_in(smtp.port, smtp.key)
        assert refused(smtp, smtp.key).startswith("454 ")
        left(third)
        second.close()

    async with running(module_db, database, tmp_path, submission_project_connections=2) as smtp:
        await beside(work, smtp)


async def test_a_login_that_tls_discards_is_counted_once(
    module_db: str, database: Conn, tmp_path: Path
) -> None:
    def work(smtp: RunningSubmission) -> None:
        client = logged_in(smtp.port, smtp.key)
        client.starttls(context=smtp.context())
        client.login("apikey", smtp.key)
        client.close()

    async with running(module_db, database, tmp_path, submission_project_connections=1) as smtp:
        await beside(work, smtp)

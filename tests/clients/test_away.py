"""While the database is unavailable, each API answers with a temporary error in its format."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from mailqueue.api.http import middleware
from mailqueue.db.pool import connect
from tests.clients.serving import Served
from tests.logged import log_of
from tests.whole.running import eventually

AWAY = """
    ALTER TABLE mailqueue.api_keys RENAME TO elsewhere;
    CREATE FUNCTION mailqueue.gone() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN true; END $$;
    CREATE VIEW mailqueue.api_keys AS SELECT * FROM mailqueue.elsewhere WHERE mailqueue.gone();
    GRANT ALL ON mailqueue.api_keys TO PUBLIC;
    GRANT ALL ON FUNCTION mailqueue.gone() TO PUBLIC
"""
BACK = """
    DROP VIEW mailqueue.api_keys;
    DROP FUNCTION mailqueue.gone();
    ALTER TABLE mailqueue.elsewhere RENAME TO api_keys
"""
TO = "to@example.com"
ME = "me@example.com"
RESEND = {"from": ME, "to": TO, "subject": "Hi", "text": "Hello"}
POSTMARK = {"From": ME, "To": TO, "Subject": "Hi", "TextBody": "Hello"}
SENDGRID = {
    "personalizations": [{"to": [{"email": TO}]}],
    "from": {"email": ME},
    "subject": "Hi",
    "content": [{"type": "text/plain", "value": "Hello"}],
}
MAILGUN = "/v3/example.com/messages"


@pytest.fixture
def away(site: Served) -> Iterator[None]:
    """Make every look-up of a key lose its connection."""
    site.run(done(site, AWAY))
    yield
    site.run(done(site, BACK))


async def done(site: Served, statements: str) -> None:
    async with connect(site.database) as conn:
        await conn.execute(statements.encode())


def posted(site: Served, path: str, body: Any) -> requests.Response:
    key = site.keys.live
    if path == MAILGUN:
        return requests.post(f"{site.url}{path}", data=body, auth=("api", key), timeout=60)
    headers = {"Authorization": f"Bearer {key}", "X-Postmark-Server-Token": key}
    return requests.post(f"{site.url}{path}", json=body, headers=headers, timeout=60)


def told(path: str, document: Any) -> object:
    """Return the message of an API's error."""
    match path:
        case "/v3/mail/send":
            return document["errors"][0]["message"]
        case "/email":
            return document["Message"] if document["ErrorCode"] else None
        case "/emails":
            return document["message"] if document["name"] == "application_error" else None
    return document["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [("/emails", RESEND), ("/email", POSTMARK), ("/v3/mail/send", SENDGRID), (MAILGUN, RESEND)],
)
@pytest.mark.usefixtures("away")
def test_a_database_that_is_away_is_told_in_the_form_of_the_api(
    site: Served, path: str, body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(middleware, monkeypatch)
    response = posted(site, path, body)

    assert response.status_code == 503
    assert response.headers["retry-after"] == "5"
    words = str(told(path, response.json())).rstrip(".")
    eventually(lambda: b"PostgreSQL at 127.0.0.1" in written.getvalue())  # the log says where
    assert words == "the database is away, try again"

"""`email show --attempts`: what was said at attempts that were not accepted."""

from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli

SAID = {
    "protocol": "http",
    "lines": [
        {"ms": 0, "by": "client", "text": "POST https://api.example.com/send"},
        {"ms": 12, "by": "server", "text": "429 Too \x9bMany"},
    ],
    "body": "<b>slow down</b>\nplease",
}


async def refused_email(conn: Conn) -> UUID:
    email = await make.queued_email(conn)
    values = {
        "email_id": email,
        "project_id": await make.project_named(conn),
        "status": "deferred",
        "recipient_email": "ann@example.com",
    }
    await make.inserted(conn, "send_logs", values | {"attempt": 1, "conversation": Jsonb(SAID)})
    await make.inserted(conn, "send_logs", values | {"attempt": 2})
    return email


def test_what_was_said_is_printed_when_asked_for_and_always_in_json(on_fresh_db: Cli) -> None:
    email = str(on_fresh_db.sql(refused_email))

    plain = on_fresh_db("email", "show", email)
    whole = on_fresh_db("email", "show", email, "--attempts")
    document = on_fresh_db.json("email", "show", email)

    assert (plain.exit_code, whole.exit_code) == (0, 0), whole.output
    assert "POST https" not in plain.stdout
    assert whole.stdout.startswith(plain.stdout)
    lines = whole.stdout.removeprefix(plain.stdout).splitlines()
    assert lines == [
        "",
        "Attempt 1, HTTP",
        "MS  BY      TEXT",
        " 0  client  POST https://api.example.com/send",
        "12  server  429 Too \ufffdMany",
        "  <b>slow down</b>",
        "  please",
    ]
    assert [each["conversation"] for each in document["attempts"]] == [SAID, None]

"""The output of commands for mail with values that Python or JSON cannot represent."""

import json

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli

DEEP = "[" * 1_100 + "]" * 1_100
CHANGES = (
    "expires_at = 'infinity'",
    "expires_at = '9999-12-31T23:59:59-12:00'",
    f"custom_data = '{DEEP}'",
    'custom_data = \'{"a": 1e60000, "b": ' + "9" * 30 + "}'",
)


async def odd_mail(conn: Conn) -> list[str]:
    emails = []
    for change in CHANGES:
        email = await make.queued_email(conn)
        await conn.execute(
            f"UPDATE mailqueue.email_queue SET {change} WHERE id = %s".encode(), (email,)
        )
        emails.append(str(email))
    return emails


def looked_at(cli: Cli, emails: list[str]) -> None:
    for email in emails:
        assert cli("why", email).exit_code == 0, email
        assert cli.json("why", email)["id"] == email
    found = json.loads(cli("export-person", "ann@example.com").stdout)
    assert {one["id"] for one in found["projects"][0]["mails"]} == set(emails)


def test_it_is_explained_exported_and_erased_queued_and_finished(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    emails = cli.sql(odd_mail)

    looked_at(cli, emails)
    for email in emails:
        assert cli("email", "cancel", email).exit_code == 0
    looked_at(cli, emails)

    assert cli.json("erase", "ann@example.com", "--yes")["erased"] is True

"""Isolate: an unreadable mail with a custom SMTP server affects no other."""

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.mail.custom_smtp.queueing import queued

pytestmark = pytest.mark.anyio


async def test_one_that_cannot_be_read_fails_and_the_next_is_sent(
    database: DatabaseSettings,
) -> None:
    """Their rows are changed without the checks of accepting."""
    deep = "[" * 1_100 + "]" * 1_100
    changes = {
        "headers": f"headers = '{deep}'",
        "files": "files = '[1]'",
        "from": "from_email = 'nobody'",
    }
    async with queued(database) as custom:
        odd = {}
        for name, change in changes.items():
            odd[name] = await custom.send(headers={"X-Name": name})
            await custom.do(
                f"UPDATE mailqueue.email_contents SET {change}"
                f" WHERE headers ->> 'X-Name' = '{name}'"
            )
        forever = await custom.send()
        await custom.do(
            "UPDATE mailqueue.email_queue SET expires_at = 'infinity', custom_data ="
            f" '{deep}' WHERE id = '{forever}'"
        )

        assert await custom.turn() == 4

        shown = {name: await custom.shown(email) for name, email in odd.items()}
        assert {one["status"] for one in shown.values()} == {"failed"}
        assert shown["headers"]["reason"] == "cannot compose: its headers cannot be read"
        assert shown["files"]["reason"] == ("cannot compose: its list of files cannot be read")
        assert (await custom.shown(forever))["status"] == "sent"
        assert await custom.kept() == 0

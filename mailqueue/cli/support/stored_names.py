"""Names of projects and sender accounts, for completion in a shell."""

import asyncio
from collections.abc import Sequence

from mailqueue.cli.support.settings import command_settings
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects import manage as projects_manage
from mailqueue.senders import accounts

PATIENCE_SECONDS = 2.0
"""A shell waits for its completion; a server that answers later offers no names."""


def read_names(kind: str, words: Sequence[str]) -> list[str]:
    """Return the names of `projects` or `senders`, of the project that the words name, in order.

    None where they cannot be read: what is typed may still be right.
    """
    try:
        return asyncio.run(asyncio.wait_for(_names(kind, words), PATIENCE_SECONDS))
    except (MailqueueError, TimeoutError, OSError):
        return []


async def _names(kind: str, words: Sequence[str]) -> list[str]:
    async with connect(command_settings().database, application_name="mailqueue/cli") as conn:
        if kind == "projects":
            return sorted(one.name for one in await projects_manage.list_all(conn))
        return await _senders(conn, _project_of(words))


async def _senders(conn: Conn, project: str | None) -> list[str]:
    found = await accounts.list_all(conn, project=project)
    return sorted({one.name for one in found})


def _project_of(words: Sequence[str]) -> str | None:
    for place, word in enumerate(words):
        if word.startswith("--project="):
            return word.partition("=")[2]
        if word == "--project" and place + 1 < len(words):
            return words[place + 1]
    return None

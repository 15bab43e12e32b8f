"""SQL for finding the mail that a bounce is about; the only file of this folder that runs SQL."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.statements.events import bounces as sql


class BouncedMail(NamedTuple):
    """A mail of ours and its recipients, in order."""

    id: UUID
    project_id: UUID
    recipients: list[str]


async def find_by_id(
    conn: Conn, email_id: UUID, *, project_id: UUID | None = None
) -> BouncedMail | None:
    """Return a mail by its id; with a project, only one of that project."""
    params = {
        "email_id": email_id,
        "message_id": None,
        "project_id": project_id,
        "recipients": list[str](),
    }
    return await maybe(conn, sql.FIND_BOUNCED_MAIL, params, BouncedMail)


async def find_by_message_id(
    conn: Conn, message_id: str, *, recipients: Sequence[str] = (), project_id: UUID | None = None
) -> BouncedMail | None:
    """Return a mail by its Message-ID; with a project, only one of that project.

    Where several mails have that Message-ID, the one sent to `recipients` (in lower case) is
    returned.
    """
    params = {
        "email_id": None,
        "message_id": message_id,
        "project_id": project_id,
        "recipients": list(recipients),
    }
    return await maybe(conn, sql.FIND_BOUNCED_MAIL, params, BouncedMail)


async def is_ignored(conn: Conn, project_id: UUID, senders: Sequence[str]) -> bool:
    """Return whether a rule of a project names one of the senders, or its domain."""
    params = {"project_id": project_id, "senders": list(senders)}
    return await value(conn, sql.IS_BOUNCE_IGNORED, params, bool)


async def list_domains(conn: Conn) -> list[str]:
    """Return the bounce domains of all projects."""
    return await many(conn, sql.LIST_BOUNCE_DOMAINS, None, str)

"""Whose mail came back; the only file here that runs SQL."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe


class BouncedMail(NamedTuple):
    """A mail of ours and whom it went to, in order."""

    id: UUID
    project_id: UUID
    recipients: list[str]


async def find_by_id(
    conn: Conn, email_id: UUID, *, project_id: UUID | None = None
) -> BouncedMail | None:
    """Find a mail by its id, in a project where one is given."""
    params = {
        "email_id": email_id,
        "message_id": None,
        "project_id": project_id,
        "recipients": list[str](),
    }
    return await maybe(conn, "find_bounced_mail", params, BouncedMail)


async def find_by_message_id(
    conn: Conn, message_id: str, *, recipients: Sequence[str] = (), project_id: UUID | None = None
) -> BouncedMail | None:
    """Find a mail by the Message-ID it bore, in a project where one is given.

    Of several with that Message-ID it is one to the recipients, which are in lower case.
    """
    params = {
        "email_id": None,
        "message_id": message_id,
        "project_id": project_id,
        "recipients": list(recipients),
    }
    return await maybe(conn, "find_bounced_mail", params, BouncedMail)


async def list_domains(conn: Conn) -> list[str]:
    """List the domains to which bounces of some project come back."""
    return await many(conn, "list_bounce_domains", None, str)

"""Installations of the Slack app as rows."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.watch import installations as sql


class BegunInstallation(NamedTuple):
    """Whose installation a state was of; `channel_id` is the person's connected Slack channel."""

    project_id: UUID
    user_id: UUID
    channel_id: UUID | None
    begun_by: str


async def begin(conn: Conn, project_id: UUID, user_id: UUID, *, state: bytes, by: str) -> datetime:
    """Begin an installation; return the time by which it has to end.

    Raises:
        InvalidField: there is no such person.
    """
    values = {"project_id": project_id, "user_id": user_id, "state": state, "by": by}
    with refusals(otherwise="user_id"):
        async with conn.transaction():
            return await fetch.value(conn, sql.BEGIN_SLACK_INSTALLATION, values, datetime)


async def take(conn: Conn, state: bytes) -> BegunInstallation | None:
    """Use a state once; None if it is unknown, used or over."""
    return await fetch.maybe(conn, sql.TAKE_SLACK_INSTALLATION, {"state": state}, BegunInstallation)


async def end(
    conn: Conn,
    begun: BegunInstallation,
    channel_id: UUID,
    *,
    sealed: bytes,
    person: str,
    workspace: str,
    by: str,
) -> bool:
    """Connect a person, or replace the token of a channel; return whether that was possible."""
    values = {
        "project_id": begun.project_id,
        "user_id": begun.user_id,
        "id": channel_id,
        "sealed": sealed,
        "person": person,
        "workspace": workspace,
        "by": by,
    }
    with refusals(otherwise="user_id"):
        async with conn.transaction():
            return await fetch.value(conn, sql.END_SLACK_INSTALLATION, values, bool)

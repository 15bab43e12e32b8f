"""Installations of the Slack app: begun by a project, ended once by the person in Slack."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from mailqueue.contract.watch import NotificationChannel, SlackInstallLink
from mailqueue.core.errors import Conflict
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.channel import AppInstallation, InstalledApp
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import channels, secrets, states
from mailqueue.watch.logins import sessions
from mailqueue.watch.store import installing as store
from mailqueue.watch.store.installing import BegunInstallation
from mailqueue.webhooks.ids import new_id

PATH = "/channels/slack/installed"
"""Path that Slack sends persons back to."""
_BY = "slack installation"


async def begin(
    conn: Conn,
    project_id: UUID,
    user_id: UUID,
    *,
    app: InstalledApp | None,
    public_url: str | None,
    by: str,
    session: Secret | None = None,
) -> SlackInstallLink:
    """Return the page of Slack where a person installs the app, within ten minutes.

    With a session it ends in the browser of that session alone.

    Raises:
        Conflict: the app or the public URL is not set.
        InvalidField: there is no such person.
    """
    if app is None or public_url is None:
        raise Conflict(
            "set MAILQUEUE_SLACK_CLIENT_ID, MAILQUEUE_SLACK_CLIENT_SECRET and MAILQUEUE_PUBLIC_URL:"
            " the app that persons install in Slack, and where Slack sends them back"
        )
    state = states.new_state()
    kept = states.hash_of(state, session)
    until: datetime = await store.begin(conn, project_id, user_id, state=kept, by=by)
    return SlackInstallLink(app.url_for(state, redirect_url(public_url)), until)


async def take(
    conn: Conn, state: str, cookies: Mapping[str, str], *, is_encrypted: bool
) -> BegunInstallation | None:
    """Return whose installation a state is of that a browser brings back, used once.

    None if it is unknown, used or over, was begun in another browser, or its session has ended.
    """
    for each, session in states.hashes_of(state, cookies, is_encrypted=is_encrypted):
        found = await store.take(conn, each)
        if found is not None and await sessions.is_of(
            conn, found.project_id, found.user_id, session
        ):
            return found
    return None


async def end(
    conn: Conn, begun: BegunInstallation, installed: AppInstallation, *, master: MasterKey | None
) -> NotificationChannel:
    """Connect the person by direct messages, or replace the token of the person's channel.

    Raises:
        Conflict: the person was connected meanwhile, or there is no master key.
        Locked: no access to the project's own key is granted.
    """
    channel_id = begun.channel_id or new_id()
    async with conn.transaction():
        cell = secrets.token_cell(begun.project_id, channel_id)
        is_done = await store.end(
            conn,
            begun,
            channel_id,
            sealed=await secrets.sealed(conn, cell, installed.token, master=master),
            person=installed.person,
            workspace=installed.workspace,
            by=f"{_BY}, begun by {begun.begun_by}",
        )
    if not is_done:
        raise Conflict("the inbox user's channel was changed meanwhile: begin again")
    return await channels.get(conn, begun.project_id, channel_id)


def redirect_url(public_url: str) -> str:
    """Return the URL that Slack sends persons back to."""
    return f"{public_url.rstrip('/')}{PATH}"

"""Channels that notifications go to: list, add, reconnect, disconnect."""

import re
from uuid import UUID

from mailqueue.contract.watch import NotificationChannel
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import secrets
from mailqueue.watch.store import buttons, places
from mailqueue.webhooks.ids import new_id

_TOKEN = re.compile(r"(xoxe\.)?xoxb-[A-Za-z0-9-]{10,300}")
_SIGNING_SECRET = re.compile(r"[A-Za-z0-9]{16,200}")


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int,
) -> list[NotificationChannel]:
    """Return channels in the order they were added, of a person or (None) of all."""
    return await places.list_channels(conn, project_id, user_id=user_id, after=after, limit=limit)


async def get(conn: Conn, project_id: UUID, channel_id: UUID) -> NotificationChannel:
    """Return one channel.

    Raises:
        NotFound: there is none of that id.
    """
    found = await places.list_channels(conn, project_id, channel_id=channel_id)
    if not found:
        raise NotFound("channel", channel_id)
    return found[0]


async def add(
    conn: Conn,
    project_id: UUID,
    user_id: UUID,
    *,
    bot_token: Secret,
    slack_channel_id: str,
    workspace: str | None = None,
    signing_secret: Secret | None = None,
    master: MasterKey | None,
    by: str,
) -> NotificationChannel:
    """Connect a Slack channel of a person.

    With the signing secret of the bot's app, notifications have buttons.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the person has a connected Slack channel, or there is no master key.
        Locked: no access to the project's own key is granted.
    """
    _check_token(bot_token)
    _check_signing_secret(signing_secret)
    channel_id = new_id()
    async with conn.transaction():
        cell = secrets.token_cell(project_id, channel_id)
        is_new = await places.add_channel(
            conn,
            project_id,
            channel_id,
            user_id=user_id,
            sealed=await secrets.sealed(conn, cell, bot_token, master=master),
            slack_channel_id=slack_channel_id,
            workspace=workspace,
            by=by,
        )
        if is_new:
            await _sign(conn, project_id, channel_id, signing_secret, master)
    if not is_new:
        raise Conflict("the inbox user has a Slack channel already: disconnect it first")
    return await get(conn, project_id, channel_id)


async def reconnect(
    conn: Conn,
    project_id: UUID,
    channel_id: UUID,
    *,
    bot_token: Secret,
    slack_channel_id: str | None = None,
    signing_secret: Secret | None = None,
    master: MasterKey | None,
    by: str,
) -> NotificationChannel:
    """Replace the token of a channel; what waits is delivered.

    Raises:
        InvalidField: a field is invalid.
        NotFound: no channel of that id is connected.
        Conflict: there is no master key.
        Locked: no access to the project's own key is granted.
    """
    _check_token(bot_token)
    _check_signing_secret(signing_secret)
    async with conn.transaction():
        cell = secrets.token_cell(project_id, channel_id)
        value = await secrets.sealed(conn, cell, bot_token, master=master)
        if not await places.reconnect_channel(
            conn, project_id, channel_id, sealed=value, slack_channel_id=slack_channel_id, by=by
        ):
            raise NotFound("connected channel", channel_id)
        await _sign(conn, project_id, channel_id, signing_secret, master)
    return await get(conn, project_id, channel_id)


async def disconnect(conn: Conn, project_id: UUID, channel_id: UUID, *, by: str) -> None:
    """Disconnect a channel: its token is deleted, and what waits is not delivered.

    Raises:
        NotFound: no channel of that id is connected.
    """
    if not await places.disconnect_channel(conn, project_id, channel_id, by=by):
        raise NotFound("connected channel", channel_id)


async def _sign(
    conn: Conn,
    project_id: UUID,
    channel_id: UUID,
    secret: Secret | None,
    master: MasterKey | None,
) -> None:
    """Keep the signing secret of a channel's app, if one is given."""
    if secret is None:
        return
    cell = secrets.signing_cell(project_id, channel_id)
    value = await secrets.sealed(conn, cell, secret, master=master)
    await buttons.set_signing(conn, project_id, channel_id, sealed=value)


def _check_token(token: Secret) -> None:
    if _TOKEN.fullmatch(token.reveal()) is None:
        raise InvalidField("bot_token", "must be the token of a Slack bot, which begins with xoxb-")


def _check_signing_secret(secret: Secret | None) -> None:
    if secret is not None and _SIGNING_SECRET.fullmatch(secret.reveal()) is None:
        raise InvalidField("signing_secret", "must be the signing secret of a Slack app")

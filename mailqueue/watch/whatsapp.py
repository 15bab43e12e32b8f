"""Channels of WhatsApp: connected with consent, and what Twilio reports and persons reply."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailqueue.contract.watch import NotificationChannel
from mailqueue.core.errors import (
    ConfigError,
    Conflict,
    InvalidField,
    NotFound,
    SealBroken,
    Unavailable,
)
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.channel import MessageReport
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import channels, secrets
from mailqueue.watch.store import whatsapp as store
from mailqueue.watch.store.whatsapp import SealedChannel
from mailqueue.webhooks.ids import new_id

_TOKEN = re.compile(r"[A-Za-z0-9]{16,100}")


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person agreed to, where and when; `given_at` None is now."""

    source: str
    wording: str
    given_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewPhone:
    """A phone to connect, and the sender at Twilio."""

    user_id: UUID
    phone_number: str
    twilio_sid: str
    auth_token: Secret
    sender_number: str
    template_sid: str
    consent: Consent


@dataclass(frozen=True, slots=True)
class ReportingChannel:
    """A channel that a request may be about, and the token that signs its requests."""

    id: UUID
    token: Secret


async def add(
    conn: Conn, project_id: UUID, new: NewPhone, *, master: MasterKey | None, by: str
) -> NotificationChannel:
    """Connect the phone of a person who consented.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the person has a connected WhatsApp channel, or there is no master key.
        Locked: no access to the project's own key is granted.
    """
    _check_token(new.auth_token)
    channel_id = new_id()
    async with conn.transaction():
        cell = secrets.token_cell(project_id, channel_id)
        is_new = await store.add(
            conn,
            project_id,
            channel_id,
            user_id=new.user_id,
            sealed=await secrets.sealed(conn, cell, new.auth_token, master=master),
            new={
                "phone_number": new.phone_number,
                "twilio_sid": new.twilio_sid,
                "sender_number": new.sender_number,
                "template_sid": new.template_sid,
                "source": new.consent.source,
                "wording": new.consent.wording,
                "given_at": new.consent.given_at,
            },
            by=by,
        )
    if not is_new:
        raise Conflict("the inbox user has a WhatsApp channel already: disconnect it first")
    return await channels.get(conn, project_id, channel_id)


async def reconnect(
    conn: Conn,
    project_id: UUID,
    channel_id: UUID,
    *,
    auth_token: Secret,
    template_sid: str | None = None,
    master: MasterKey | None,
    by: str,
) -> NotificationChannel:
    """Replace the token of a channel; what waits is delivered. An opt-out stays.

    Raises:
        InvalidField: a field is invalid.
        NotFound: no WhatsApp channel of that id is connected.
        Conflict: there is no master key.
        Locked: no access to the project's own key is granted.
    """
    _check_token(auth_token)
    async with conn.transaction():
        cell = secrets.token_cell(project_id, channel_id)
        value = await secrets.sealed(conn, cell, auth_token, master=master)
        if not await store.reconnect(
            conn, project_id, channel_id, sealed=value, template_sid=template_sid, by=by
        ):
            raise NotFound("connected channel", channel_id)
    return await channels.get(conn, project_id, channel_id)


async def replied_to(
    conn: Conn,
    project_id: UUID,
    *,
    account: str,
    sender: str,
    number: str,
    master: MasterKey | None,
) -> Sequence[ReportingChannel]:
    """Return the channels that a reply from a number to a sender is about.

    Raises:
        Unavailable: a token cannot be opened here.
        Locked: no access to the project's own key is granted.
    """
    found = await store.find_channels(
        conn, project_id, account=account, sender=sender, number=number
    )
    return await _opened(conn, found, master)


async def reported_on(
    conn: Conn, project_id: UUID, notification_id: UUID, *, master: MasterKey | None
) -> Sequence[ReportingChannel]:
    """Return the channel of a notification, if it is a connected one of WhatsApp.

    Raises:
        Unavailable: the token cannot be opened here.
        Locked: no access to the project's own key is granted.
    """
    return await _opened(
        conn, await store.find_notification(conn, project_id, notification_id), master
    )


async def record_report(
    conn: Conn, channel_id: UUID, notification_id: UUID, report: MessageReport
) -> bool:
    """Record what Twilio reports of a message.

    Return whether it changes anything: a report that is late or repeated does not.
    """
    return await store.record_receipt(conn, channel_id, notification_id, report)


async def record_reply(
    conn: Conn, channel_id: UUID, message: str, *, is_out: bool, word: str | None
) -> str:
    """Record a reply of a person; return `opted_out`, `opted_in`, `noted` or `ignored`."""
    return await store.record_reply(conn, channel_id, message, is_out=is_out, word=word)


async def _opened(
    conn: Conn, found: Sequence[SealedChannel], master: MasterKey | None
) -> Sequence[ReportingChannel]:
    opened = []
    for one in found:
        cell = secrets.token_cell(one.project_id, one.id)
        try:
            token = await secrets.opened(conn, cell, one.sealed, master=master)
        except (ConfigError, SealBroken) as exc:
            raise Unavailable("the token of this channel cannot be opened here") from exc
        opened.append(ReportingChannel(one.id, token))
    return opened


def _check_token(token: Secret) -> None:
    if _TOKEN.fullmatch(token.reveal()) is None:
        raise InvalidField("auth_token", "must be the token of a Twilio account")

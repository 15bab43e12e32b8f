"""The handler of queue `notifications`: mark a notification and post it once.

A worker that dies after the mark leaves a notification that may have been posted: it is held as
unknown, for a person to decide.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from urllib.parse import quote

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import ConfigError, Locked, SealBroken
from mailqueue.core.outcome import Defer, Done, Failed, Outcome, Retry, Unknown, Values
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.channel import (
    ChannelAction,
    ChannelAddress,
    ChannelAnswer,
    ChannelMessage,
    ChannelPoster,
    MailLine,
    PostResult,
)
from mailqueue.queue.handler import Call, Handler, Settled
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import secrets
from mailqueue.watch.logins.links import PATH
from mailqueue.watch.marking import NotificationMarks
from mailqueue.watch.model import (
    ClaimedNotification,
    NotificationRow,
    PostedNotification,
    PostPlan,
    SummaryLine,
)
from mailqueue.watch.store import work as store

log = get_logger(__name__)

WAITS = tuple(timedelta(seconds=seconds) for seconds in (30, 120, 480))
"""Waits after the first failed attempt and the next ones."""
SUMMARY_LINES = 5
"""Mails of a summary that are named."""
SECRET_WAIT = timedelta(minutes=5)
"""Wait while a token cannot be opened here."""
CHANNEL_WAIT = timedelta(seconds=5)
"""Wait of a notification whose channel was paused or broke after it was claimed."""
UNMARKED: Values = {"posting_claim": None}
CALLBACKS = "/channels/whatsapp"
"""Path below which Twilio reports: of a project, and of a notification."""


@dataclass(frozen=True, slots=True)
class NotificationTools:
    """The adapters that the handler uses: a channel for each type.

    `public_url` is where providers reach the installation; None: they report nothing. With
    `has_signing_secret` it can verify what buttons of its own Slack app send.
    """

    channels: Mapping[str, ChannelPoster]
    read_master: Callable[[], MasterKey | None]
    public_url: str | None = None
    has_signing_secret: bool = False


class NotificationHandler(Handler[ClaimedNotification, PostedNotification]):
    """Posts notifications; what answers mean for channels commits with their outcomes."""

    row = ClaimedNotification

    def __init__(self, database: DatabaseSettings, tools: NotificationTools) -> None:
        self._marks = NotificationMarks(database)
        self._tools = tools

    async def load(
        self, conn: Conn, rows: Sequence[ClaimedNotification]
    ) -> Sequence[ClaimedNotification]:
        ids = [row.id for row in rows]
        found = {one.id: one for one in await store.read_notifications(conn, ids)}
        summaries = [one.id for one in found.values() if one.kind == "summary"]
        lines: dict[uuid.UUID, list[SummaryLine]] = {}
        if summaries:
            lines = await store.read_summarized(conn, summaries, limit=SUMMARY_LINES)
        return [
            row._replace(
                plan=await self._plan(conn, found[row.id], lines.get(row.id, []))
                if row.id in found
                else None
            )
            for row in rows
        ]

    async def handle(self, row: ClaimedNotification) -> Outcome | PostedNotification:
        plan = row.plan
        if plan is None:
            return Failed("the notification was removed")
        if plan.fault is not None:
            return Defer(plan.fault, SECRET_WAIT)
        channel = self._tools.channels.get(plan.row.channel_type)
        if channel is None:
            return Retry(f"this worker has no channel {plan.row.channel_type}")
        state = await self._marks.begin(row)
        match state:
            case "marked":
                reach("notifications.marked")
            case "doubtful":
                why = "its worker was lost while it was posted: it may have arrived"
                return Unknown(why, UNMARKED)
            case "disconnected":
                return Failed("its channel was disconnected")
            case "opted_out":
                return Failed("the person opted out")
            case _:
                return Defer("its channel cannot take it now", CHANNEL_WAIT)
        address = address_of(plan.row, self._tools.public_url)
        answer = await channel.post(plan.token or Secret(""), address, plan.message)
        reach("notifications.posted")
        return _posted(row, plan, answer)

    async def settle(
        self,
        conn: Conn,
        spec: QueueSpec,
        outcomes: Sequence[tuple[ClaimedNotification, Outcome]],
        works: Sequence[tuple[ClaimedNotification, PostedNotification]],
    ) -> Settled[ClaimedNotification]:
        """Write outcomes and works, with the channels locked before their notifications."""
        rows = [row for row, _ in outcomes] + [row for row, _ in works]
        async with conn.transaction():
            await store.lock_channels(conn, {row.notification_channel_id for row in rows})
            return await super().settle(conn, spec, outcomes, works)

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedNotification, PostedNotification]]
    ) -> Sequence[Outcome]:
        await store.note_answers(conn, [work for _, work in done])
        for _, work in done:
            if work.opt_out is not None:
                await store.opt_out(conn, work.channel_id, reason=work.opt_out)
            elif work.is_outside:
                await store.close_window(conn, work.channel_id)
        return [work.outcome for _, work in done]

    def is_answered(self, result: Outcome | PostedNotification) -> bool:
        return isinstance(result, PostedNotification) and isinstance(result.outcome, Done)

    async def rest(self, call: Call) -> None:
        """Mail persons whose channels or inboxes have ended in error."""
        url = self._tools.public_url
        pages = None if url is None else f"{url.rstrip('/')}{PATH}/"
        told = await call(partial(store.tell_of_errors, pages=pages))
        if told:
            log.info("notifications.told_of_errors", mails=told)

    async def close(self) -> None:
        for channel in self._tools.channels.values():
            channel.close()
        await self._marks.close()

    def _actions_of(self, row: NotificationRow) -> Sequence[ChannelAction]:
        is_verified = row.has_signing_secret or (row.is_of_app and self._tools.has_signing_secret)
        if row.channel_type != "slack" or not is_verified or self._tools.public_url is None:
            return ()
        return actions_of(row)

    async def _plan(
        self, conn: Conn, row: NotificationRow, lines: Sequence[SummaryLine]
    ) -> PostPlan:
        message = message_of(row, lines, actions=self._actions_of(row))
        if row.sealed_token is None:
            return PostPlan(row, message, None)
        cell = secrets.token_cell(row.project_id, row.channel_id)
        try:
            token = await secrets.opened(
                conn, cell, row.sealed_token, master=self._tools.read_master()
            )
        except (ConfigError, Locked, SealBroken) as exc:
            return PostPlan(row, message, None, fault=str(exc))
        return PostPlan(row, message, token)


def actions_of(row: NotificationRow) -> Sequence[ChannelAction]:
    """Return the buttons that a notification has, where presses can be received. Pure."""
    if row.kind == "mail" and row.sender_address:
        return (ChannelAction.MUTE_SENDER, ChannelAction.PAUSE_HOUR)
    return () if row.kind == "notice" else (ChannelAction.PAUSE_HOUR,)


def address_of(row: NotificationRow, public_url: str | None) -> ChannelAddress:
    """Return where a notification goes. Pure."""
    if row.channel_type == "slack":
        return ChannelAddress(row.slack_channel_id or "")
    callback = None
    if public_url is not None:
        callback = f"{public_url.rstrip('/')}{CALLBACKS}/{row.project_id}/{row.id}"
    return ChannelAddress(
        row.phone_number or "",
        row.twilio_sid or "",
        row.sender_number or "",
        row.template_sid or "",
        is_open=row.is_open,
        callback=callback,
    )


def message_of(
    row: NotificationRow,
    lines: Sequence[SummaryLine],
    *,
    actions: Sequence[ChannelAction] = (),
) -> ChannelMessage:
    """Return what a notification says. Pure."""
    if row.kind == "summary":
        mails = lines[0].mails if lines else 0
        named = [
            MailLine(_sender(one.sender_name, one.sender_address), one.subject) for one in lines
        ]
        title = f"{mails} new emails in a minute"
        return ChannelMessage(
            title,
            "",
            "",
            row.email_address,
            row.email_received_at,
            lines=named,
            mails=mails,
            actions=actions,
            reference=str(row.id),
        )
    link = None
    if row.webmail_url is not None and row.kind == "mail":
        known = quote((row.message_id or "").strip("<>"), safe="")[:1000]
        link = row.webmail_url.replace("{message_id}", known)
    return ChannelMessage(
        row.subject,
        _sender(row.sender_name, row.sender_address),
        row.preview,
        row.email_address,
        row.email_received_at,
        link,
        actions=actions,
        reference=str(row.id),
    )


def _sender(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and address else name or address


def _posted(row: ClaimedNotification, plan: PostPlan, answer: ChannelAnswer) -> PostedNotification:
    channel_id, revision = plan.row.channel_id, plan.row.revision
    reason = answer.reason or ""
    match answer.result:
        case PostResult.DELIVERED | PostResult.SENT:
            values = {"external_message_id": answer.external_id, **UNMARKED}
            return PostedNotification(Done(answer.result, values=values), channel_id, revision)
        case PostResult.WAIT:
            wait = answer.wait or CHANNEL_WAIT
            return PostedNotification(
                Defer(reason, wait, UNMARKED), channel_id, revision, wait=wait
            )
        case PostResult.CHANNEL:
            again = Defer(reason, timedelta(0), UNMARKED)
            return PostedNotification(again, channel_id, revision, fault=reason)
        case PostResult.FAILED:
            pause = WAITS[min(max(row.attempts, 1), len(WAITS)) - 1]
            return PostedNotification(
                Retry(reason, pause, UNMARKED), channel_id, revision, is_failed=True
            )
        case PostResult.OPTED_OUT:
            ended = Failed(reason, UNMARKED)
            return PostedNotification(ended, channel_id, revision, opt_out=reason)
        case PostResult.OUTSIDE:
            # The template follows, which counts as an attempt.
            by_template = Retry(reason, timedelta(0), UNMARKED)
            return PostedNotification(by_template, channel_id, revision, is_outside=True)
        case PostResult.REFUSED:
            return PostedNotification(Failed(reason, UNMARKED), channel_id, revision)
        case PostResult.UNKNOWN:
            return PostedNotification(Unknown(reason, UNMARKED), channel_id, revision)

"""Buttons below notifications in Slack: whose secret signs a press, and what it does."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from mailqueue.core.errors import ConfigError, SealBroken, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.channel import ButtonPress
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import secrets
from mailqueue.watch.store import buttons as store

PATH = "/channels/slack/actions"
"""Path of the public URL that Slack sends presses of buttons to."""
IsSigned = Callable[[Secret], bool]


@dataclass(frozen=True, slots=True)
class PressResult:
    """What a press did: see `press_slack_button` in SQL. `text` is shown to the person."""

    word: str
    text: str | None = None


async def channel_of(
    conn: Conn,
    press: ButtonPress,
    *,
    app_secret: Secret | None,
    is_signed: IsSigned,
    master: MasterKey | None,
) -> UUID | None:
    """Return the channel of the notification, whose app signed the request; None: it did not.

    Raises:
        Unavailable: the signing secret of the channel cannot be opened here.
        Locked: no access to the project's own key is granted.
    """
    found = await store.find_notification(conn, press.reference)
    if found is None:
        return None
    secret = app_secret if found.is_of_app else None
    if found.sealed is not None:
        cell = secrets.signing_cell(found.project_id, found.channel_id)
        try:
            secret = await secrets.opened(conn, cell, found.sealed, master=master)
        except (ConfigError, SealBroken) as exc:
            raise Unavailable("the signing secret of this channel cannot be opened here") from exc
    return found.channel_id if secret is not None and is_signed(secret) else None


async def press(conn: Conn, channel_id: UUID, pressed: ButtonPress) -> PressResult:
    """Do what a verified press asks for; one that is repeated or not for the channel does not."""
    done = await store.press(conn, channel_id, pressed)
    if done.sender is not None:
        sender = _escaped(done.sender)
        return PressResult(done.word, f"Mail from {sender} is not reported any more.")
    if done.until is not None:
        shown = datetime.fromtimestamp(done.until, UTC).strftime("%H:%M UTC")
        until = f"<!date^{done.until}^{{time}}|{shown}>"
        return PressResult(done.word, f"Notifications are paused until {until}.")
    return PressResult(done.word, "No more senders can be muted." if done.word == "full" else None)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

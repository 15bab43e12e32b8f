"""Watched inboxes: list, add, pause, resume, scan, reconnect, remove."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.watch import Inbox, InboxProvider
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.core.outbound_guard import IpNetwork, is_off_limits, normal_host
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import secrets
from mailqueue.watch.store import places
from mailqueue.webhooks.ids import new_id

DEFAULT_FOLDERS = ("INBOX",)
DEFAULT_SCAN_SECONDS = 60
MAX_PASSWORD_CHARACTERS = 1000


class InboxAction(StrEnum):
    """What is done with an inbox."""

    PAUSE = "pause"
    RESUME = "resume"
    SCAN = "scan"


@dataclass(frozen=True, slots=True)
class NewInbox:
    """An inbox to watch; `username` None is its address."""

    user_id: UUID
    email_address: str
    host: str
    password: Secret
    port: int = 993
    tls: str = "implicit"
    username: str | None = None
    folders: Sequence[str] = DEFAULT_FOLDERS
    webmail_url: str | None = None
    scan_seconds: int = DEFAULT_SCAN_SECONDS


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int,
) -> list[Inbox]:
    """Return inboxes in the order they were added, of a person or (None) of all."""
    return await places.list_inboxes(conn, project_id, user_id=user_id, after=after, limit=limit)


async def get(conn: Conn, project_id: UUID, inbox_id: UUID) -> Inbox:
    """Return one inbox.

    Raises:
        NotFound: there is none of that id.
    """
    found = await places.list_inboxes(conn, project_id, inbox_id=inbox_id)
    if not found:
        raise NotFound("inbox", inbox_id)
    return found[0]


async def add(
    conn: Conn,
    project_id: UUID,
    new: NewInbox,
    *,
    allowed: Collection[IpNetwork],
    master: MasterKey | None,
    by: str,
) -> Inbox:
    """Watch an inbox: mail that arrives from now on is reported.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the person has this inbox already, or there is no master key.
        Locked: no access to the project's own key is granted.
    """
    host = _host_of(new.host, allowed=allowed)
    _check_password(new.password)
    inbox_id = new_id()
    async with conn.transaction():
        cell = secrets.password_cell(project_id, inbox_id, host, new.port)
        is_new = await places.add_inbox(
            conn,
            project_id,
            inbox_id,
            user_id=new.user_id,
            email_address=new.email_address,
            host=host,
            port=new.port,
            tls=new.tls,
            username=new.username or new.email_address,
            sealed=await secrets.sealed(conn, cell, new.password, master=master),
            folders=new.folders,
            webmail_url=new.webmail_url,
            scan_seconds=new.scan_seconds,
            by=by,
        )
    if not is_new:
        raise Conflict("this inbox of the inbox user is watched already")
    return await get(conn, project_id, inbox_id)


async def switch(
    conn: Conn, project_id: UUID, inbox_id: UUID, action: InboxAction, *, by: str
) -> Inbox:
    """Pause an inbox, resume it with what arrives from now on, or scan it at once.

    Raises:
        NotFound: there is no inbox of that id.
        Conflict: it is in error and has to be reconnected first.
    """
    done = await places.switch_inbox(conn, project_id, inbox_id, action, by=by)
    if done == "missing":
        raise NotFound("inbox", inbox_id)
    if done == "error":
        raise Conflict("the inbox is in error: reconnect it")
    return await get(conn, project_id, inbox_id)


async def reconnect(
    conn: Conn,
    project_id: UUID,
    inbox_id: UUID,
    *,
    password: Secret,
    username: str | None = None,
    master: MasterKey | None,
    by: str,
) -> Inbox:
    """Replace the credentials of an inbox; mail that arrives from now on is reported.

    Raises:
        InvalidField: a field is invalid.
        NotFound: there is no inbox of that id.
        Conflict: the inbox is read without a password, or there is no master key.
        Locked: no access to the project's own key is granted.
    """
    _check_password(password)
    async with conn.transaction():
        known = await get(conn, project_id, inbox_id)
        if known.provider != InboxProvider.IMAP:
            raise Conflict("the inbox has no password: its owner has to consent again")
        cell = secrets.password_cell(project_id, inbox_id, known.host, known.port)
        value = await secrets.sealed(conn, cell, password, master=master)
        if not await places.reconnect_inbox(
            conn, project_id, inbox_id, username=username, sealed=value, by=by
        ):
            raise NotFound("inbox", inbox_id)
    return await get(conn, project_id, inbox_id)


async def remove(conn: Conn, project_id: UUID, inbox_id: UUID, *, by: str) -> None:
    """Stop watching an inbox; its password and notifications are deleted.

    Raises:
        NotFound: there is no inbox of that id.
    """
    if not await places.remove_inbox(conn, project_id, inbox_id, by=by):
        raise NotFound("inbox", inbox_id)


def _host_of(text: str, *, allowed: Collection[IpNetwork]) -> str:
    try:
        host = normal_host(text)
    except ValueError as exc:
        raise InvalidField("host", str(exc)) from None
    if is_off_limits(host, allowed):
        raise InvalidField(
            "host",
            f"{host} is not a public address; an operator can allow its network with "
            "MAILQUEUE_ALLOWED_HOSTS",
        )
    return host


def _check_password(password: Secret) -> None:
    if not 1 <= len(password.reveal()) <= MAX_PASSWORD_CHARACTERS:
        raise InvalidField("password", f"must have 1 to {MAX_PASSWORD_CHARACTERS} characters")

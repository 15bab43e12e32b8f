"""Accept the mails of concurrent requests: those that arrive together share a commit.

A request is answered after the commit.
"""

from collections.abc import Collection, Sequence
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from mailqueue.contract.sending import Sent
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import InvalidField, Unauthorized
from mailqueue.db.fetch import Conn
from mailqueue.db.group_commit import GroupCommit, GroupLimits, Size, Waiter
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.accept.acceptance import accept, accept_messages
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.accept.log_lines import log_emails, log_message
from mailqueue.mail.accept.raw import PreparedRaw
from mailqueue.projects.keys.manage import in_force, not_in_force
from mailqueue.projects.model import Caller
from mailqueue.settings.environment import DatabaseSettings

EMAIL_LIMITS = GroupLimits(rows=100, commits=4)
LARGE_BYTES = 256 * 1024
"""Size in bytes above which a composed mail is accepted in a transaction of its own."""
MESSAGE_LIMITS = GroupLimits(rows=100, bytes=4 * 1024 * 1024, commits=4)
"""A row is a mail; a message to many recipients is several."""

Mail = TypeVar("Mail", NewEmail, PreparedRaw)


class _Item(NamedTuple, Generic[Mail]):
    caller: Caller
    mail: Mail


_Waiting = Waiter[_Item[Mail], Sent]


class Intake:
    """Accepts mails of callers whose key is active at that moment."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        self._pool = pool
        self._database = database
        self._emails = GroupCommit(self._accept_emails, name="intake", limits=EMAIL_LIMITS)
        self._messages = GroupCommit(
            self._accept_messages, name="intake of messages", limits=MESSAGE_LIMITS, size=_size_of
        )

    async def accept(self, caller: Caller, email: NewEmail, *, size: int) -> Sent:
        """Accept one mail, of a request of `size` bytes; return when it is committed.

        Raises:
            Unauthorized: the key is no longer active.
            InvalidField: the mail is refused.
            Unavailable: the database is unavailable.
        """
        item = _Item(caller, email)
        # An idempotency key may wait for another transaction, a large mail takes long: alone they
        # delay no other.
        if "idempotency_key" in email.options or size > LARGE_BYTES:
            return await self._emails.submit_alone(item)
        return await self._emails.submit(item)

    async def accept_message(self, caller: Caller, message: PreparedRaw) -> Sent:
        """Accept one finished message; return when it is committed.

        Raises:
            Unauthorized: the key is no longer active.
            InvalidField: the message is refused.
            Unavailable: the database is unavailable.
        """
        return await self._messages.submit(_Item(caller, message))

    async def _accept_emails(self, group: Sequence[Waiter[_Item[NewEmail], Sent]]) -> None:
        async with borrow(self._pool, self._database) as conn:
            for project, some in _by_project(group).items():
                try:
                    await _accept_emails(conn, some, project, keys=_keys_of(some))
                except Unauthorized:
                    if valid := await _valid(conn, some):
                        await _accept_emails(conn, valid, project)

    async def _accept_messages(self, group: Sequence[Waiter[_Item[PreparedRaw], Sent]]) -> None:
        async with borrow(self._pool, self._database) as conn:
            for project, unordered in _by_project(group).items():
                # Every process takes keys in this order, so that there is no deadlock.
                some = sorted(unordered, key=lambda waiter: waiter.item.mail.key)
                try:
                    await _accept_messages(conn, some, project, keys=_keys_of(some))
                except Unauthorized:
                    if valid := await _valid(conn, some):
                        await _accept_messages(conn, valid, project)


async def _accept_emails(
    conn: Conn,
    some: Sequence[_Waiting[NewEmail]],
    project: str,
    *,
    keys: Collection[UUID] = (),
) -> None:
    emails = [waiter.item.mail for waiter in some]
    results = await accept(conn, emails, project=project, keys=keys)
    reach("api.accepted")
    for waiter, result in zip(some, results, strict=True):
        if isinstance(result, InvalidField):
            waiter.fail(result)
        else:
            waiter.succeed(result)
            log_emails(project, [waiter.item.mail], [result])


async def _accept_messages(
    conn: Conn,
    some: Sequence[_Waiting[PreparedRaw]],
    project: str,
    *,
    keys: Collection[UUID] = (),
) -> None:
    messages = [waiter.item.mail for waiter in some]
    results = await accept_messages(conn, messages, project=project, keys=keys)
    reach("submission.accepted")
    for waiter, result in zip(some, results, strict=True):
        waiter.succeed(result)
        log_message(project, waiter.item.mail, result)


def _by_project(group: Sequence[_Waiting[Mail]]) -> dict[str, list[_Waiting[Mail]]]:
    found: dict[str, list[_Waiting[Mail]]] = {}
    for waiter in group:
        found.setdefault(waiter.item.caller.project, []).append(waiter)
    return found


def _keys_of(some: Sequence[_Waiting[Mail]]) -> frozenset[UUID]:
    return frozenset(waiter.item.caller.id for waiter in some)


async def _valid(conn: Conn, some: Sequence[_Waiting[Mail]]) -> list[_Waiting[Mail]]:
    """Return the mails of valid keys; refuse the others."""
    valid = await in_force(conn, _keys_of(some))
    for waiter in some:
        if waiter.item.caller.id not in valid:
            waiter.fail(not_in_force())
    return [waiter for waiter in some if waiter.item.caller.id in valid]


def _size_of(item: _Item[PreparedRaw]) -> Size:
    return Size(len(item.mail.documents), len(item.mail.octets))

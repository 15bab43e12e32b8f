"""Accepts the mail of requests: those that wait together share a commit."""

from collections.abc import Sequence
from dataclasses import dataclass

from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.db.group_commit import GroupCommit, GroupLimits, Waiter
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tenants.keys.manage import in_force, not_in_force
from mailqueue.tenants.model import Caller

GROUP_LIMITS = GroupLimits(rows=100, commits=4)
LARGE_BYTES = 256 * 1024
"""Requests of more bytes are accepted in a transaction of their own."""


@dataclass(frozen=True, slots=True)
class _Request:
    caller: Caller
    wanted: SendRequest | TemplateRequest


_Waiter = Waiter[_Request, Sent]


class Intake:
    """Accepts the mail of requests, together where several wait."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        self._pool = pool
        self._database = database
        self._group = GroupCommit(self._accept, name="intake", limits=GROUP_LIMITS)

    async def send(
        self, caller: Caller, request: SendRequest | TemplateRequest, *, size: int
    ) -> Sent:
        """Accept the mail of one request of `size` bytes and return what became of it.

        Raises:
            MailqueueError: what `sending_service.new_email` and the rules of mail refuse.
        """
        asked = _Request(caller, request)
        # A key may have a twin to wait for, and a large mail takes its time: nobody else's.
        if request.idempotency_key is not None or size > LARGE_BYTES:
            return await self._group.submit_alone(asked)
        return await self._group.submit(asked)

    async def _accept(self, group: Sequence[_Waiter]) -> None:
        emails: dict[str, list[tuple[_Waiter, NewEmail]]] = {}
        for waiter in group:
            caller = waiter.item.caller
            try:
                email = sending_service.new_email(caller, waiter.item.wanted)
            except MailqueueError as exc:
                waiter.fail(exc)
            else:
                emails.setdefault(caller.project, []).append((waiter, email))
        if not emails:
            return
        async with borrow(self._pool, self._database) as conn:
            valid = await in_force(conn, {waiter.item.caller.id for waiter in group})
            for project, some in emails.items():
                accepted = []
                for waiter, email in some:
                    if waiter.item.caller.id in valid:
                        accepted.append((waiter, email))
                    else:
                        waiter.fail(not_in_force())
                if accepted:
                    await _store(conn, project, accepted)


async def _store(conn: Conn, project: str, some: Sequence[tuple[_Waiter, NewEmail]]) -> None:
    found = await sending_service.accept(conn, project, [email for _, email in some])
    for (waiter, _), result in zip(some, found, strict=True):
        if isinstance(result, Sent):
            waiter.succeed(result)
        else:
            waiter.fail(result)

"""One mail at a time: explain it, cancel it, hold it, release it, queue it again."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from uuid import UUID

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations import store
from mailqueue.operations.model import Explained, Handled
from mailqueue.operations.store import EmailPlace

Act = Callable[[UUID, list[UUID]], Awaitable[list[Handled]]]


async def explain(conn: Conn, email_id: UUID) -> Explained:
    """Say why a mail stands where it stands, with what was tried.

    Raises:
        NotFound: there is no such mail.
    """
    email = await store.find_email(conn, email_id)
    if email is None:
        raise NotFound("email", email_id)
    return Explained(
        email=email,
        why=await store.why(conn, email_id),
        attempts=await store.attempts(conn, email_id),
        recipients=await store.recipients(conn, email_id),
    )


async def cancel(conn: Conn, ids: Sequence[UUID], *, reason: str) -> list[Handled]:
    """Cancel unfinished mails; one line for each id, in order, saying what was done."""
    return await _handle(conn, ids, lambda p, some: store.cancel(conn, p, ids=some, reason=reason))


async def hold(conn: Conn, ids: Sequence[UUID], *, reason: str) -> list[Handled]:
    """Keep pending mails until they are released."""
    return await _handle(conn, ids, lambda p, some: store.hold(conn, p, ids=some, reason=reason))


async def release(conn: Conn, ids: Sequence[UUID]) -> list[Handled]:
    """Put held mails back into their lanes."""
    return await _handle(conn, ids, lambda p, some: store.release(conn, p, ids=some))


async def requeue(conn: Conn, ids: Sequence[UUID]) -> list[Handled]:
    """Queue failed, expired or cancelled mails again, under the same ids."""
    return await _handle(conn, ids, lambda p, some: store.requeue(conn, p, ids=some))


async def _handle(conn: Conn, ids: Sequence[UUID], act: Act) -> list[Handled]:
    """Do it in one transaction; what is not done is told as `unchanged: <status>`."""
    wanted = list(dict.fromkeys(ids))
    async with conn.transaction():
        found = await store.places(conn, wanted)
        by_project = sorted(found, key=_project_of)
        done: dict[UUID, str] = {}
        for project_id, places in groupby(by_project, key=_project_of):
            handled = await act(project_id, [place.id for place in places])
            done |= {each.id: each.result for each in handled}
    unchanged = {place.id: f"unchanged: {place.status}" for place in found}
    results = dict.fromkeys(wanted, "unknown") | unchanged | done
    return [Handled(email_id, results[email_id]) for email_id in wanted]


def _project_of(place: EmailPlace) -> UUID:
    return place.project_id

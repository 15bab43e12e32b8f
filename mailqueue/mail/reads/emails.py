"""Read emails of a project: one with its recipients, attempts, events and timeline, and lists."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.contract.emails import Attempt, Email, Event, ListedEmail, Moment, Recipient
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import store
from mailqueue.mail.reads.model import EmailPage, EmailQuery

MAX_EVENTS = 100
"""Events of one email that are shown with it; the others are listed by themselves."""
MAX_ATTEMPTS = 200
"""Attempts of one email that are shown with it: the newest."""
RECORDED_TOGETHER = timedelta(seconds=1)
"""Time between an attempt and an event within which the event is its outcome."""
MAX_LOOKED = 10_000
"""Emails that one page of a search looks at; the next page goes on from there."""
MAX_CONVERSATIONS = 20
"""Attempts of one email that are shown with what was said: the newest."""


async def find(conn: Conn, email_id: UUID, *, project_id: UUID) -> Email:
    """Return an email of a project with its recipients, newest attempts and events, and timeline.

    Raises:
        NotFound: the project has no such email.
    """
    email = await find_state(conn, email_id, project_id=project_id)
    newest = await store.list_newest_events(conn, email_id, limit=MAX_EVENTS + 1)
    attempts = await store.list_newest_attempts(
        conn, email_id, limit=MAX_ATTEMPTS + 1, conversations=MAX_CONVERSATIONS
    )
    email = replace(
        email,
        recipients=await store.list_recipients(conn, email_id) or [_only_recipient(email)],
        attempts=attempts[MAX_ATTEMPTS - 1 :: -1],
        has_more_attempts=len(attempts) > MAX_ATTEMPTS,
        events=newest[MAX_EVENTS - 1 :: -1],
        more_events=f"/v1/emails/{email_id}/events" if len(newest) > MAX_EVENTS else None,
    )
    return replace(email, timeline=timeline(email))


async def find_state(conn: Conn, email_id: UUID, *, project_id: UUID) -> Email:
    """Return an email of a project with empty lists.

    Raises:
        NotFound: the project has no such email.
    """
    email = await store.find_email(conn, email_id, project_id=project_id)
    if email is None:
        raise NotFound("email", email_id)
    return email


async def list_page(conn: Conn, query: EmailQuery) -> list[ListedEmail]:
    """Return emails of a project, newest first."""
    return await store.list_page(conn, query.params())


async def search_page(conn: Conn, query: EmailQuery, *, looked: int = MAX_LOOKED) -> EmailPage:
    """Return emails of a project, newest first.

    A filter that no index helps looks at so many emails for a page, which may have fewer then than
    its limit; the page after it goes on with older ones.
    """
    stopped = None
    if query.is_searched:
        stopped = await store.looked_from(
            conn, query.project_id, before=query.before, looked=looked
        )
    found = await list_page(conn, replace(query, from_id=stopped, limit=query.limit + 1))
    if len(found) > query.limit:
        return EmailPage(found[: query.limit], found[query.limit - 1].id)
    return EmailPage(found, stopped, is_cut=stopped is not None)


async def list_events(
    conn: Conn,
    email_id: UUID,
    *,
    project_id: UUID,
    after: tuple[datetime | None, UUID | None] = (None, None),
    limit: int,
) -> list[Event]:
    """Return the events of an email, oldest first, after one of them.

    Raises:
        NotFound: the project has no such email.
    """
    await find_state(conn, email_id, project_id=project_id)
    return await store.list_events(conn, email_id, after=after, limit=limit)


def timeline(email: Email) -> list[Moment]:
    """Return the accepted, attempt and event entries of an email in one list, oldest first.
    Pure.
    """
    moments = [
        Moment(email.created_at, "accepted", None, None),
        *(
            Moment(a.sent_at, f"attempt_{a.status}", a.recipient_email, a.reply)
            for a in email.attempts
        ),
        *(Moment(e.occurred_at, e.type, e.recipient_email, detail_of(e)) for e in email.events),
    ]
    behind = [moments[0].at, *(a.sent_at for a in email.attempts)]
    behind += (order_of(e, email.attempts) for e in email.events)
    is_told = any(moment.what == email.status for moment in moments)
    if email.finished_at is not None and not is_told:
        moments.append(Moment(email.finished_at, email.status, None, email.reason))
        behind.append(email.finished_at)
    order = sorted(range(len(moments)), key=lambda place: behind[place])
    return [moments[place] for place in order]


def order_of(event: Event, attempts: Sequence[Attempt]) -> datetime:
    """Return the time at which an event stands in a timeline. Pure.

    The outcome of an attempt is recorded together with it, and may have the earlier time of both:
    it stands behind its attempt.
    """
    if event.source is not None:
        return event.occurred_at
    of_it = [each.sent_at for each in attempts if each.recipient_email == event.recipient_email]
    if any(timedelta() <= event.occurred_at - at <= RECORDED_TOGETHER for at in of_it):
        return event.occurred_at
    behind = (at for at in of_it if timedelta() < at - event.occurred_at <= RECORDED_TOGETHER)
    return min(behind, default=event.occurred_at)


def detail_of(event: Event) -> str | None:
    """Return the detail of an event, or the link of a click. Pure."""
    if event.detail is None and isinstance(event.data, dict):
        return event.data.get("url")
    return event.detail


def _only_recipient(email: Email) -> Recipient:
    only = Recipient(
        kind="to",
        address=email.recipient_email,
        name=email.recipient_name,
        status=email.status,
        reason=email.reason,
        reply_code=None,
        settled_at=email.finished_at,
    )
    # The recipient of a mail that is queued, whether claimed or not.
    return only if email.finished_at is not None else replace(only, status="pending")

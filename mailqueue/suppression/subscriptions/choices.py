"""What one person wants to hear of: shown, and changed with everything that follows."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.core.address import key_of
from mailqueue.db.fetch import Conn
from mailqueue.suppression.subscriptions import store
from mailqueue.suppression.subscriptions.model import (
    EVERYTHING,
    MARKETING,
    Choice,
    Reader,
    Said,
    State,
    Subscription,
    Subscriptions,
)

_THEIR_REASONS = frozenset({"", "unsubscribed", "paused"})
_ANSWERS = frozenset({"transactional", "system"})
"""Mail that answers to what somebody did: nobody unsubscribes from it."""


async def reader_of(conn: Conn, email_id: UUID, *, recipient: int) -> Reader | None:
    """Return whose link was followed; None once the mail is gone, or its recipient was erased."""
    found = await store.find_reader(conn, email_id, recipient)
    return None if found is None else Reader(email_id, *found)


async def subscriptions_of(conn: Conn, reader: Reader) -> Subscriptions:
    """Return what holds for somebody: in each category, in marketing, in that of their mail."""
    rows = await store.list_subscriptions(
        conn, reader.project_id, reader.address, more=[EVERYTHING, MARKETING, reader.category]
    )
    has_left_all = any(row.slug == EVERYTHING and row.reason for row in rows)
    categories = tuple(
        _shown(row, has_left_all=has_left_all)
        for row in rows
        if row.slug != EVERYTHING and (row.is_ours or _is_offered(row, rows, reader))
    )
    stop = await store.find_stop_of_all(conn, reader.project_id, reader.address)
    return Subscriptions(reader, categories, has_left_all, stop is not None)


async def unsubscribe(conn: Conn, reader: Reader, *, from_all: bool = False, said: Said) -> bool:
    """Take somebody off the category of their mail, or off all; return whether that is new.

    Mail that answers to what somebody did goes on: a link in it takes them off marketing.
    """
    found = await subscriptions_of(conn, reader)
    offered = {one.slug: one for one in found.categories}
    own = offered.get(reader.category)
    choices = []
    if from_all:
        choices.append(Choice(EVERYTHING, State.OFF))
    if own is not None and not own.is_required:
        choices.append(Choice(own.slug, State.OFF))
    elif not from_all:
        choices.append(Choice(EVERYTHING, State.OFF))
    return await save(conn, reader, choices, said=said)


async def subscribe_again(conn: Conn, reader: Reader, *, said: Said) -> bool:
    """Undo `unsubscribe`, whatever it was from; return whether that is new."""
    found = await subscriptions_of(conn, reader)
    choices = [Choice(EVERYTHING, State.ON)] if found.has_left_all else []
    choices += [
        Choice(one.slug, State.ON) for one in found.categories if one.slug == reader.category
    ]
    return await save(
        conn, reader, [one for one in choices if not _is_required(found, one)], said=said
    )


async def save(conn: Conn, reader: Reader, choices: Sequence[Choice], *, said: Said) -> bool:
    """Let these choices hold at once, for every spelling of the address; return whether any is new.

    Raises:
        InvalidField: nobody can unsubscribe from one of these.
    """
    if not choices:
        return False
    spellings = (key_of(reader.address),)
    return bool(await store.change(conn, reader, choices, spellings=spellings, said=said))


def _is_required(found: Subscriptions, choice: Choice) -> bool:
    return any(one.slug == choice.category and one.is_required for one in found.categories)


def _is_offered(
    row: store.SubscriptionRow, rows: Sequence[store.SubscriptionRow], reader: Reader
) -> bool:
    """Return whether a category that is none of the project's is shown all the same.

    That of the mail is; marketing is too where it has been stopped, or nothing else is there.
    """
    if row.slug == reader.category:
        return True
    has_others = any(one.is_ours and not one.is_required for one in rows)
    return bool(row.reason) or not (has_others or _may_leave(reader.category))


def _may_leave(category: str) -> bool:
    return category not in _ANSWERS


def _shown(row: store.SubscriptionRow, *, has_left_all: bool) -> Subscription:
    state = store.state_of(row.reason)
    is_covered = row.is_ours or row.slug == MARKETING
    if has_left_all and is_covered and not row.is_required and state is State.ON:
        state = State.OFF
    return Subscription(
        slug=row.slug,
        name=row.name,
        description=row.description,
        translations=row.translations,
        is_required=row.is_required,
        state=state,
        until=row.until if state is State.PAUSED else None,
        stopped=row.reason not in _THEIR_REASONS,
    )

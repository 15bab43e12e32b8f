"""Read and change the subscriptions of one recipient, with the suppressions they create."""

from mailqueue.db.fetch import Conn
from mailqueue.suppression.subscriptions import store
from mailqueue.suppression.subscriptions.model import (
    EVERYTHING,
    MARKETING,
    Choice,
    ChoiceOrigin,
    LinkRecipient,
    Subscription,
    Subscriptions,
    SubscriptionState,
)

_OWN_REASONS = frozenset({"", "unsubscribed", "paused"})
"""Reasons that the recipient chose; "" means that the category is not suppressed."""
_TRANSACTIONAL = frozenset({"transactional", "system"})
"""Categories that recipients cannot unsubscribe from."""


recipient_of_link = store.find_recipient_of_link


async def subscriptions_of(conn: Conn, reader: LinkRecipient) -> Subscriptions:
    """Return the state of each category a recipient can choose, with marketing and the mail's
    own.
    """
    rows = await store.list_subscriptions(
        conn, reader.project_id, reader.address, more=[EVERYTHING, MARKETING, reader.category]
    )
    has_left_all = any(row.slug == EVERYTHING and row.reason for row in rows)
    # The mail's own category is always shown; marketing where it is suppressed, or there is no
    # other to choose.
    has_others = any(row.is_ours and not row.is_required for row in rows)
    has_no_other = not has_others and reader.category in _TRANSACTIONAL
    categories = tuple(
        _shown(row, has_left_all=has_left_all)
        for row in rows
        if row.slug != EVERYTHING
        and (row.is_ours or row.slug == reader.category or row.reason or has_no_other)
    )
    stop = await store.find_global_suppression(conn, reader.project_id, reader.address)
    return Subscriptions(reader, categories, has_left_all, stop is not None)


async def unsubscribe(
    conn: Conn, reader: LinkRecipient, *, from_all: bool = False, origin: ChoiceOrigin
) -> Subscriptions:
    """Unsubscribe a recipient from the mail's category, or from all; return what it had before.

    Recipients cannot unsubscribe from transactional mail: a link in it unsubscribes from marketing.
    """
    found = await subscriptions_of(conn, reader)
    offered = {one.slug: one for one in found.categories}
    own = offered.get(reader.category)
    choices = []
    if from_all:
        choices.append(Choice(EVERYTHING, SubscriptionState.OFF))
    if own is not None and not own.is_required:
        choices.append(Choice(own.slug, SubscriptionState.OFF))
    elif not from_all:
        choices.append(Choice(EVERYTHING, SubscriptionState.OFF))
    await store.change(conn, reader, choices, origin=origin)
    return found


async def subscribe_again(
    conn: Conn, reader: LinkRecipient, *, origin: ChoiceOrigin
) -> Subscriptions:
    """Undo `unsubscribe`, for whichever categories; return what the recipient had before."""
    found = await subscriptions_of(conn, reader)
    choices = [Choice(EVERYTHING, SubscriptionState.ON)] if found.has_left_all else []
    choices += [
        Choice(one.slug, SubscriptionState.ON)
        for one in found.categories
        if one.slug == reader.category
    ]
    required = {one.slug for one in found.categories if one.is_required}
    wanted = [one for one in choices if one.category not in required]
    await store.change(conn, reader, wanted, origin=origin)
    return found


save = store.change


def _shown(row: store.SubscriptionRow, *, has_left_all: bool) -> Subscription:
    state = (
        SubscriptionState.PAUSED
        if row.reason == "paused"
        else SubscriptionState.OFF
        if row.reason
        else SubscriptionState.ON
    )
    is_covered = row.is_ours or row.slug == MARKETING
    if has_left_all and is_covered and not row.is_required and state is SubscriptionState.ON:
        state = SubscriptionState.OFF
    return Subscription(
        slug=row.slug,
        name=row.name,
        description=row.description,
        translations=row.translations,
        is_required=row.is_required,
        state=state,
        until=row.until if state is SubscriptionState.PAUSED else None,
        stopped=row.reason not in _OWN_REASONS,
    )

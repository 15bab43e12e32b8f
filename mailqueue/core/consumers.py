"""CONSUMERS: what reads the stream of events, one row each.

Events that some consumer wants are rows of `event_stream`, written in the transaction of what
happened. Claims of the queues `webhooks` and `publishing` call the handler of each consumer with
them, in the transaction that moves its position. `docs/adding/consumer.md` is the guide to adding
one.
"""

from dataclasses import dataclass

EMAIL_EVENTS = (
    "email.queued",
    "email.sent",
    "email.delivered",
    "email.deferred",
    "email.soft_bounce",
    "email.hard_bounce",
    "email.complaint",
    "email.opened",
    "email.clicked",
    "email.unsubscribed",
    "email.resubscribed",
    "email.failed",
    "email.suppressed",
    "email.expired",
    "email.cancelled",
    "email.held",
    "email.resolved",
)
"""Types of events of emails."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """One reader of the stream."""

    name: str
    work: str
    """What it does with events, for people: "deliveries to webhooks"."""
    types: tuple[str, ...]
    handler: str
    """Function in `sql/functions`, called with the numbers of events, in order, in the transaction
    that moves the position."""
    is_ordered: bool = False
    """Whether an event waits for open transactions that may commit an earlier one. Otherwise each
    is handled as soon as it is committed, after those that its transaction could see."""
    takes_test: bool = False
    """Whether it gets events of test mail."""
    has_subscriptions: bool = False
    """Whether only some projects want its events: `event_subscribers()` knows which. Otherwise
    its types are written to the stream for all projects."""


CONSUMERS = (
    Consumer(
        name="webhooks",
        work="deliveries of events of emails to webhooks",
        types=EMAIL_EVENTS,
        handler="queue_webhook_deliveries",
        takes_test=True,
        has_subscriptions=True,
    ),
    Consumer(
        name="outboxes",
        work="messages of outboxes about events of emails",
        types=EMAIL_EVENTS,
        handler="write_outbox_events",
        takes_test=True,
        has_subscriptions=True,
    ),
)

"""Which worker processes a command keeps running."""

from collections.abc import Sequence

from mailqueue.core.queues.registry import QUEUES
from mailqueue.process.child import STALLED_SECONDS, Children
from mailqueue.settings.environment import Settings

MAIL = ("custom-smtp",)
"""Queues whose rows are mail: they are worked on where mail is sent."""


def send_children(settings: Settings) -> Children:
    """Return the processes that send queued mail."""
    limits = settings.workers
    return Children(
        ("send", f"--in-flight={limits.in_flight}", f"--batch={limits.batch}"),
        limits.processes,
        queues=["email_queue"],
        stalled_seconds=STALLED_SECONDS,
    )


def sending_children(settings: Settings) -> list[Children]:
    """Return the processes of `mailqueue worker send`, which sends all mail of a host."""
    return [send_children(settings), queue_children(MAIL)]


def queue_children(names: Sequence[str], options: Sequence[str] = ()) -> Children:
    """Return one process that works on all of these queues."""
    return Children((*names, *options), queues=names, stalled_seconds=STALLED_SECONDS)


def light_children(settings: Settings) -> Children:
    """Return one process that works on all queues; without send workers, on none of mail."""
    names = [spec.name for spec in QUEUES]
    return queue_children([one for one in names if settings.workers.processes or one not in MAIL])

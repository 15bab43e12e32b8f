"""Every named crash point, and how a process reaches it. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """What is done so that the point is reached."""

    SEND = "send"  # a worker sends
    LARGE = "large"  # it sends messages that go out in two writes
    STOP = "stop"  # it is asked to stop while it sends
    LOSE = "lose"  # it is declared lost while it sends
    ENQUEUE = "enqueue"  # `mailqueue enqueue` reads a file
    OPERATE = "operate"  # `mailqueue email hold` takes all mail of a project
    RESOLVE = "resolve"  # `mailqueue resolve` decides about single mails
    RESTORE = "restore"  # `mailqueue restored` holds what may have been sent
    TRAP = "trap"  # the trap takes a message
    API = "api"  # the API takes a request
    SUBMISSION = "submission"  # a program hands a message in by SMTP


@dataclass(frozen=True, slots=True)
class Point:
    """A crash point, and the number of the passing at which a process is interrupted."""

    name: str
    way: Way = Way.SEND
    passing: int = 1


POINTS = (
    # A worker between two durable facts, in the order of a mail's way.
    Point("worker.registered"),
    Point("partitions.made"),
    Point("beat.committed"),
    Point("rescue.committed"),
    Point("gather.committed"),
    Point("claim.committed", passing=2),
    Point("contents.read", passing=2),
    Point("slots.taken", passing=3),
    Point("settle.begun", passing=3),
    Point("settle.committed", passing=3),
    Point("mark.read", passing=3),
    Point("message.begun", passing=5),
    Point("message.half_written", Way.LARGE, passing=5),
    Point("dot.written", passing=5),
    Point("reply.read", passing=5),
    Point("account_health.written"),
    Point("park.committed"),
    # Its end.
    Point("drain.begun", Way.STOP),
    Point("rest.given_back", Way.STOP),
    Point("drain.written", Way.STOP),
    Point("leave.committed", Way.STOP),
    Point("lease.lost", Way.LOSE),
    # Those who hand mail in, catch it, or decide about it.
    Point("enqueue.committed", Way.ENQUEUE),
    Point("api.accepted", Way.API),
    Point("submission.accepted", Way.SUBMISSION),
    Point("trap.kept", Way.TRAP),
    Point("operation.begun", Way.OPERATE),
    Point("operation.committed", Way.OPERATE),
    Point("hand.committed", Way.RESOLVE),
    Point("restored.committed", Way.RESTORE),
)
WORKER_WAYS = frozenset((Way.SEND, Way.LARGE, Way.STOP, Way.LOSE))

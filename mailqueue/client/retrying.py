"""Decides when a request is made again, and that it never takes effect twice. Pure.

A request that changes something carries an Idempotency-Key, the same one at each attempt: the API
takes it once and answers the later ones as the first. Requests without a key, save those that only
read, are made again only where it is certain that the one before was not taken.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from mailqueue.client.errors import BadAnswer, ClientError, NoAnswer, refusal, retry_after

AWAY = frozenset({502, 503, 504})
AGAIN = frozenset({408, 425, 429, 500}) | AWAY
LONGEST_BACKOFF = 8.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is made at most, and how long is waited between attempts, in seconds.

    A server that asks for a longer pause than `longest_wait` is not waited for.
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.first_wait < 0 or self.longest_wait < 0:
            raise ValueError("attempts must be at least 1, and no wait negative")


@dataclass(frozen=True, slots=True)
class Try:
    """Make the request."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait before the next attempt."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer, whoever gave it; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer; `is_unsent`: it is certain that the request was not taken."""

    why: str
    is_unsent: bool


Talk = Generator[Try | Wait, Heard | Lost | None, Heard]


def conversation(retries: Retries, *, is_repeatable: bool, chance: Callable[[], float]) -> Talk:
    """Yield what is to be done next until there is an answer to hand on; `chance` gives 0 to 1.

    It is told what came of each Try. Whoever runs it waits and asks: this knows no clock.

    Raises:
        ClientError: no answer, or a refusal.
    """
    attempt = 0
    while True:
        attempt += 1
        came = yield Try()
        assert came is not None, "a Try has an outcome"
        if isinstance(came, Heard) and came.status < 300:
            return came
        error = _error(came, attempt)
        is_safe = is_repeatable or _is_untaken(came)
        if attempt == retries.attempts or not is_safe or not _is_passing(error, came):
            raise error
        pause = _pause(came, retries, attempt=attempt, chance=chance())
        if pause is None:
            raise error
        yield Wait(pause)


def _error(came: Heard | Lost, attempts: int) -> ClientError:
    if isinstance(came, Lost):
        return NoAnswer(came.why, attempts=attempts)
    return refusal(came.status, came.body, came.headers)


def _is_untaken(came: Heard | Lost) -> bool:
    """Return whether it is certain that the request left nothing behind."""
    return came.is_unsent if isinstance(came, Lost) else came.status == 429


def _is_passing(error: ClientError, came: Heard | Lost) -> bool:
    """Return whether the same request may be answered otherwise in a while."""
    if isinstance(came, Lost):
        return True
    if isinstance(error, BadAnswer):  # of a proxy before the API, which is away
        return came.status in AWAY | {429}
    # 409 with a time: a request under the same key is being answered at this moment.
    is_busy = came.status == 409 and retry_after(came.headers) is not None
    return is_busy or came.status in AGAIN


def _pause(came: Heard | Lost, retries: Retries, *, attempt: int, chance: float) -> float | None:
    """Return the wait before the next attempt; None: it would be too long."""
    backoff = min(LONGEST_BACKOFF, retries.first_wait * 2.0 ** min(attempt - 1, 10))
    asked_for = retry_after(came.headers) if isinstance(came, Heard) else None
    if asked_for is None:
        return min(backoff * (0.5 + 0.5 * chance), retries.longest_wait)
    if asked_for > retries.longest_wait:
        return None
    # Many clients are told the same: they must not all come back at one moment.
    return asked_for + min(backoff, 1.0) * chance

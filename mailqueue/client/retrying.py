"""Decide when a request is retried, so that it takes effect at most once. Pure.

A request that changes something carries an Idempotency-Key, the same for each attempt: the API
executes it once and repeats its first response. A request without a key that is not a read is
retried only if the earlier attempt certainly had no effect.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from mailqueue.client.errors import BadAnswer, ClientError, NoAnswer, refusal, retry_after

AWAY = frozenset({502, 503, 504})
AGAIN = frozenset({408, 425, 429, 500}) | AWAY
LONGEST_BACKOFF = 8.0


@dataclass(frozen=True, slots=True)
class Retries:
    """Most attempts of a request, and the waits between them, in seconds.

    If the server asks for a longer wait than `longest_wait`, the request is not retried.
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.first_wait < 0 or self.longest_wait < 0:
            raise ValueError("attempts must be at least 1, and waits at least 0")


@dataclass(frozen=True, slots=True)
class MakeAttempt:
    """Make the request."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait before the next attempt."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class NoResponse:
    """No response; `is_unsent` is true where the request certainly did not reach the server."""

    why: str
    is_unsent: bool


Talk = Generator[MakeAttempt | Wait, ApiResponse | NoResponse | None, ApiResponse]


def attempts_of(retries: Retries, *, is_repeatable: bool, chance: Callable[[], float]) -> Talk:
    """Yield the next step, a Try or a Wait, until the response is final; return it.

    The caller sends the result of each Try into the generator, and does the waiting. `chance`
    returns a number from 0 to 1.

    Raises:
        ClientError: there was no response, or a refusal.
    """
    attempt = 0
    while True:
        attempt += 1
        came = yield MakeAttempt()
        assert came is not None, "a Try must be answered with its result"
        if isinstance(came, ApiResponse) and came.status < 300:
            return came
        error = _error(came, attempt)
        is_safe = is_repeatable or _is_untaken(came)
        if attempt == retries.attempts or not is_safe or not _is_passing(error, came):
            raise error
        pause = _pause(came, retries, attempt=attempt, chance=chance())
        if pause is None:
            raise error
        yield Wait(pause)


def _error(came: ApiResponse | NoResponse, attempts: int) -> ClientError:
    if isinstance(came, NoResponse):
        return NoAnswer(came.why, attempts=attempts)
    return refusal(came.status, came.body, came.headers)


def _is_untaken(came: ApiResponse | NoResponse) -> bool:
    """Return whether the request certainly had no effect."""
    return came.is_unsent if isinstance(came, NoResponse) else came.status == 429


def _is_passing(error: ClientError, came: ApiResponse | NoResponse) -> bool:
    """Return whether the same request may succeed later."""
    if isinstance(came, NoResponse):
        return True
    if isinstance(error, BadAnswer):  # from a proxy whose API is unavailable
        return came.status in AWAY | {429}
    # 409 with Retry-After: a request with the same key is being executed.
    is_busy = came.status == 409 and retry_after(came.headers) is not None
    return is_busy or came.status in AGAIN


def _pause(
    came: ApiResponse | NoResponse, retries: Retries, *, attempt: int, chance: float
) -> float | None:
    """Return the wait before the next attempt in seconds; None if it would be too long."""
    backoff = min(LONGEST_BACKOFF, retries.first_wait * 2.0 ** min(attempt - 1, 10))
    asked_for = retry_after(came.headers) if isinstance(came, ApiResponse) else None
    if asked_for is None:
        return min(backoff * (0.5 + 0.5 * chance), retries.longest_wait)
    if asked_for > retries.longest_wait:
        return None
    # Random, so that clients with the same Retry-After do not return together.
    return asked_for + min(backoff, 1.0) * chance

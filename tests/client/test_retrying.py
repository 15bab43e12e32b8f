"""A request is retried if that may help, after the requested wait, for a limited time."""

import pytest

from mailqueue.client.errors import ApiError, BadAnswer, ClientError, NoAnswer, refusal, retry_after
from mailqueue.client.retrying import (
    ApiResponse,
    MakeAttempt,
    NoResponse,
    Retries,
    Wait,
    attempts_of,
)

THREE = Retries(attempts=3, first_wait=1, longest_wait=20)
FINE = ApiResponse(202, {}, b"{}")
UNSENT = NoResponse("ConnectError", is_unsent=True)
DOUBTFUL = NoResponse("ReadTimeout", is_unsent=False)


def refused(status: int, **headers: str) -> ApiResponse:
    body = b'{"statusCode": %d, "name": "busy", "message": "later"}' % status
    return ApiResponse(
        status, {name.replace("_", "-"): text for name, text in headers.items()}, body
    )


def told(
    *came: ApiResponse | NoResponse,
    is_repeatable: bool = True,
    retries: Retries = THREE,
    chance: float = 0,
) -> tuple[list[float], ApiResponse | ClientError]:
    """Return the waits between attempts, and the result."""
    talk = attempts_of(retries, is_repeatable=is_repeatable, chance=lambda: chance)
    waits: list[float] = []
    outcomes = iter(came)
    step = next(talk)
    while True:
        try:
            if isinstance(step, Wait):
                waits.append(step.seconds)
                step = talk.send(None)
            else:
                assert isinstance(step, MakeAttempt)
                step = talk.send(next(outcomes))
        except StopIteration as done:
            return waits, done.value
        except ClientError as exc:
            assert next(outcomes, None) is None, "it gave up before"
            return waits, exc


@pytest.mark.parametrize(
    "came",
    [
        UNSENT,
        DOUBTFUL,
        refused(408),
        refused(429),
        refused(500),
        refused(503),
        ApiResponse(502, {}, b"<html>Bad Gateway</html>"),
        refused(409, retry_after="0"),
    ],
)
def test_what_passes_is_tried_again(came: ApiResponse | NoResponse) -> None:
    assert told(came, came, FINE)[1] is FINE


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422, 501])
def test_what_stays_is_not_tried_again(status: int) -> None:
    waits, error = told(refused(status))

    assert waits == []
    assert isinstance(error, ApiError)
    assert error.status == status


@pytest.mark.parametrize("came", [DOUBTFUL, refused(500), refused(503), ApiResponse(502, {}, b"")])
def test_what_may_have_been_done_is_not_done_twice(came: ApiResponse | NoResponse) -> None:
    assert isinstance(told(came, is_repeatable=False)[1], ClientError)


@pytest.mark.parametrize("came", [UNSENT, refused(429)])
def test_what_was_surely_not_done_is_tried_again(came: ApiResponse | NoResponse) -> None:
    assert told(came, FINE, is_repeatable=False)[1] is FINE


def test_it_gives_up() -> None:
    waits, error = told(DOUBTFUL, DOUBTFUL, DOUBTFUL)

    assert len(waits) == 2
    assert isinstance(error, NoAnswer)
    assert error.attempts == 3
    assert isinstance(told(UNSENT, retries=Retries(attempts=1))[1], NoAnswer)


def test_waits_grow_and_differ_between_clients() -> None:
    many = Retries(attempts=9, first_wait=1, longest_wait=5)

    shortest, _ = told(*[UNSENT] * 9, retries=many, chance=0)
    longest, _ = told(*[UNSENT] * 9, retries=many, chance=1)

    assert shortest == [0.5, 1, 2, 4, 4, 4, 4, 4]
    assert longest == [1, 2, 4, 5, 5, 5, 5, 5]


def test_the_wait_that_is_asked_for_is_kept() -> None:
    assert told(refused(429, retry_after="7"), FINE)[0] == [7]
    assert told(refused(429, retry_after="7"), FINE, chance=1)[0] == [8], "not all at one moment"
    assert told(ApiResponse(503, {"retry-after": "9"}, b"away"), FINE)[0] == [9]


def test_a_wait_too_long_is_told_instead() -> None:
    waits, error = told(refused(429, retry_after="21"))

    assert waits == []
    assert isinstance(error, ApiError)
    assert error.retry_after == 21


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": " 3 "}, 3),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "²"}, None),
        ({"retry-after": "9" * 400}, 999_999_999),
        ({"retry-after": "Fri, 20 Nov 2026 12:00:30 GMT"}, None),
        (
            {
                "retry-after": f"Fri, 20 Nov {'9' * 20} 12:00:30 GMT",
                "date": "Fri, 20 Nov 2026 12:00:00 GMT",
            },
            None,
        ),
        (
            {
                "retry-after": "Fri, 20 Nov 2026 12:00:30 GMT",
                "date": "Fri, 20 Nov 2026 12:00:00 GMT",
            },
            30,
        ),
        (
            {
                "retry-after": "Fri, 20 Nov 2026 11:00:00 GMT",
                "date": "Fri, 20 Nov 2026 12:00:00 GMT",
            },
            0,
        ),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b'{"error": 1}', b"\xff\xfe"])
def test_answers_of_others_are_told_apart(body: bytes) -> None:
    assert isinstance(refusal(404, body, {}), BadAnswer)


def test_senseless_retries_are_refused() -> None:
    for wrong in ({"attempts": 0}, {"first_wait": -1}, {"longest_wait": -1}):
        with pytest.raises(ValueError, match="attempts must be"):
            Retries(**wrong)

"""Errors that pass by themselves have the same Retry-After in every API."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.mailgun import faults as mailgun
from mailqueue.api.compat.model import CompatError
from mailqueue.api.compat.postmark import faults as postmark
from mailqueue.api.compat.resend import faults as resend
from mailqueue.api.compat.sendgrid import faults as sendgrid
from mailqueue.api.http.responses import Busy, refusal
from mailqueue.core.errors import (
    LimitReached,
    MailqueueError,
    NotFound,
    ProjectFull,
    StorageFull,
    TooManyRequests,
    Unavailable,
)

SCOPE = {"type": "http", "headers": []}


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (Busy("the same request is in progress"), "1"),
        (Unavailable("the database cannot be reached"), "5"),
        (StorageFull("storage is full"), "60"),
        (ProjectFull("max_queued_emails", "demo has 10 emails"), "60"),
        (TooManyRequests("this key", timedelta(seconds=1.2)), "2"),
        (LimitReached("the sender account", timedelta(0)), "1"),
        (NotFound("email", "1"), None),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("api", [mailgun, postmark, resend, sendgrid], ids=lambda it: it.__name__)
def test_every_api_says_when_to_try_again(api: object, error: MailqueueError, seconds: str) -> None:
    refused: Callable[[Request, CompatError], Response] = api.refused  # type: ignore[attr-defined]

    assert refused(Request(SCOPE), error).headers.get("retry-after") == seconds
    assert refusal(dict(SCOPE), error).headers.get("retry-after") == seconds


def test_headers_of_an_http_error_are_kept() -> None:
    error = HTTPException(503, "busy", {"Retry-After": "1"})

    assert resend.refused(Request(SCOPE), error).headers["retry-after"] == "1"

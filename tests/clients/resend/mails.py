"""Mails that tests send by Resend's library."""

from typing import Any

import pytest
import resend
from resend.exceptions import ResendError

HELLO: resend.Emails.SendParams = {
    "from": "Acme <onboarding@example.com>",
    "to": ["delivered@example.org"],
    "subject": "hello world",
    "html": "<strong>it works!</strong>",
}


def hello(**fields: Any) -> resend.Emails.SendParams:
    params: Any = {**HELLO, **fields}
    given: resend.Emails.SendParams = {k: v for k, v in params.items() if v is not ...}  # type: ignore[assignment]
    return given


def refused(**fields: Any) -> ResendError:
    """Send a mail that is refused, and check that nothing was stored."""
    with pytest.raises(ResendError) as caught:
        resend.Emails.send(hello(**fields))
    return caught.value

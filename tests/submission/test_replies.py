"""Replies to refused messages follow the code of the refusal, whatever its words say."""

import pytest

from mailqueue.core.errors import InvalidField, Refusal
from mailqueue.submission.handler import refusal

GOT = "a file name has 1 to 255 bytes, got 'may have.txt', a loop"


@pytest.mark.parametrize(
    ("field", "of", "code", "enhanced"),
    [
        ("attachments", Refusal.TOO_LARGE, 552, "5.3.4"),
        ("message", Refusal.TOO_LARGE, 552, "5.3.4"),
        ("message", Refusal.MAIL_LOOP, 554, "5.4.6"),
        ("attachments", Refusal.FILE_NOT_ALLOWED, 554, "5.6.1"),
        ("from_email", Refusal.SENDER_NOT_ALLOWED, 550, "5.7.1"),
        ("attachments", None, 554, "5.6.1"),
        ("message", None, 554, "5.6.0"),
        ("subject", None, 554, "5.5.4"),
    ],
)
def test_a_reply_follows_the_code_and_the_field(
    field: str, of: Refusal | None, code: int, enhanced: str
) -> None:
    reply = refusal(InvalidField(field, GOT, of))

    assert (reply.code, reply.enhanced) == (code, enhanced)

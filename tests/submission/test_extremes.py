"""A message that can never be accepted is refused with 5xx, so that no program repeats it."""

import json

import pytest

from tests.submission.programs import RunningSubmission, answered, beside

pytestmark = pytest.mark.anyio

DATA = "X-Mailqueue-Custom-Data"
REFUSED = [
    ("X-Mailqueue-Expires-At", "9999-12-31T23:59:59-12:00", "expires_at: within ten years"),
    ("X-Mailqueue-Expires-At", "9999-12-31T23:59:59Z", "expires_at: within ten years"),
    ("X-Mailqueue-Expires-At", "infinity", "X-Mailqueue-Expires-At: a time with its zone"),
    ("X-Mailqueue-Send-At", "9999-12-31T23:59:59-12:00", "run_at: within ten years"),
    (DATA, '{"a": ' + "[" * 101 + "1" + "]" * 101 + "}", "custom_data: at most 100 nested levels"),
    (DATA, '{"a": ' + "[" * 5_000 + "]" * 5_000 + "}", f"{DATA}: at most 100 nested levels"),
    (DATA, '{"a": NaN}', "custom_data: a number must be finite"),
    (DATA, '{"a": 1e400}', "custom_data: a number must be finite"),
    (DATA, '{"a": ' + "9" * 900 + "}", "custom_data: a whole number must fit into 64 bits"),
    (DATA, json.dumps({"a": "\0"}), "custom_data: a NUL character is not allowed"),
    (DATA, json.dumps({"a": "\ud800"}), "custom_data: it is not valid Unicode"),
]


async def test_what_can_never_be_accepted_is_refused_for_good(smtp: RunningSubmission) -> None:
    def hand_in() -> list[tuple[int, str]]:
        mails = [_with(name, value) for name, value, _ in REFUSED] + [_with("X-Order", "81")]
        with smtp.client() as client:
            return [answered(client, octets) for octets in mails]

    *answers, (code, _) = await beside(hand_in)

    for (name, value, words), (refused, said) in zip(REFUSED, answers, strict=True):
        assert 500 <= refused < 600, f"{name}: {value[:50]}: {refused} {said}"
        assert words in said, f"{name}: {value[:50]}: {refused} {said}"
    assert code == 250


def _with(name: str, value: str) -> bytes:
    """Return a message with a field, folded if a line would be too long."""
    folded = value.replace("[" * 50, "[" * 50 + "\r\n ").replace("]" * 50, "]" * 50 + "\r\n ")
    head = f"From: shop@example.com\r\nTo: ann@example.com\r\nSubject: Hi\r\n{name}: {folded}\r\n"
    return f"{head}\r\nHello\r\n".encode()

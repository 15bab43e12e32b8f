"""A message with correlation ids has a log line once it is accepted."""

import json

import pytest

from mailqueue.mail.accept import log_lines
from tests.logged import log_of
from tests.submission.programs import RunningSubmission, beside, message

pytestmark = pytest.mark.anyio


async def test_a_message_with_ids_has_a_log_line_and_its_repetition_none(
    smtp: RunningSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(log_lines, monkeypatch)
    told = message(
        Subject="Logged",
        **{"Message-ID": "<81@example.com>", "X-Mailqueue-Custom-Data": '{"correlation_id": "81"}'},
    )
    people = [f"annabel{n}@example.com" for n in range(51)]

    def send() -> None:
        with smtp.client() as client:
            for _ in range(2):
                client.send_message(told, to_addrs=people)
            client.send_message(message(Subject="Not logged"))

    await beside(send)

    (line,) = (json.loads(one) for one in written.getvalue().splitlines())
    assert (line["event"], line["emails"]) == ("email.accepted", 2)
    assert (line["correlation_id"], line["recipient"]) == ("81", "ann***@example.com")

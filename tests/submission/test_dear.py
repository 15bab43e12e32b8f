"""What takes long to read of one project's messages delays neither the event loop nor others."""

import asyncio
import threading
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from mailqueue.mail.accept.intake import Intake
from mailqueue.mail.accept.raw import PreparedRaw, prepared
from mailqueue.projects.rate_limit.limiter import RateLimiter
from mailqueue.smtp.server import accepting, violations
from mailqueue.smtp.server.answer import BARE_TEXT_END
from mailqueue.smtp.server.handler import ReceivedEnvelope, ServerLimits, SmtpService
from mailqueue.submission import handler
from mailqueue.submission.handler import SubmissionHandler
from mailqueue.submission.model import SubmissionClient
from tests.api.http.test_large_bodies import caller

pytestmark = pytest.mark.anyio
HEAD = b"From: shop@example.com\r\nTo: ann@example.com\r\nSubject: Hi\r\n"
LARGE_HEAD = HEAD + b"X: y\r\n" + b" z\r\n" * 10_000 + b"\r\nHello\r\n"
MANY_PARTS = HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 100


class Taken:
    """Takes messages in place of the intake."""

    async def accept_message(self, _: Any, message: PreparedRaw) -> Any:
        assert message.documents
        return type("Sent", (), {"id": uuid4()})()


def submission() -> SubmissionHandler:
    return SubmissionHandler(cast(Intake, Taken()), cast(RateLimiter, None))


def envelope_of(project_id: UUID) -> ReceivedEnvelope:
    client = SubmissionClient(caller(project_id=project_id), "192.0.2.1")
    recipients = ("ann@example.com",)
    return ReceivedEnvelope(
        "shop@example.com", recipients, needs_smtputf8=False, login="apikey", client=client
    )


async def test_large_headers_and_many_parts_are_read_in_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = []

    def noted(*given: Any) -> PreparedRaw:
        threads.append(threading.current_thread() is threading.main_thread())
        return prepared(*given)

    monkeypatch.setattr(handler, "prepared", noted)
    takes, mine = submission(), envelope_of(uuid4())
    for raw in (HEAD + b"\r\nHello\r\n", LARGE_HEAD, MANY_PARTS):
        answer = await takes.accept(mine, raw)
        assert answer is not None
        assert answer.code == 250, answer

    assert threads == [True, False, False]


async def test_a_message_of_another_project_is_read_while_those_of_one_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Isolate: those of one project end only after the other's was accepted."""
    many, may_end = uuid4(), threading.Event()
    begun = []

    def held(email: Any) -> PreparedRaw:
        begun.append(email.by)
        if email.by == "key many":
            assert may_end.wait(30)
        return prepared(email)

    monkeypatch.setattr(handler, "prepared", held)
    takes, mine = submission(), envelope_of(many)
    assert isinstance(mine.client, SubmissionClient)
    mine.client.caller = caller(project_id=many, name="many")
    waiting = [asyncio.create_task(takes.accept(mine, LARGE_HEAD)) for _ in range(10)]
    await asyncio.sleep(0)

    answer = await takes.accept(envelope_of(uuid4()), LARGE_HEAD)
    assert answer is not None
    assert answer.code == 250
    assert begun == ["key many", "key test"]
    may_end.set()

    assert {one.code for one in await asyncio.gather(*waiting) if one is not None} == {250}


async def test_the_lines_of_a_large_message_are_checked_in_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads, checked = [], violations.objection

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return checked(*given)

    monkeypatch.setattr(accepting, "objection", noted)
    limits = ServerLimits(refuses_bare_ends=True)
    service = SmtpService(submission(), limits, "mx.example.com", None)
    answers = [
        await accepting.accept(service, envelope_of(uuid4()), raw)
        for raw in (HEAD + b"\r\na\n", HEAD + b"\r\n" + b"text\r\n" * 200_000 + b"a\n")
    ]

    assert answers == [BARE_TEXT_END] * 2
    assert threads == [True, False]

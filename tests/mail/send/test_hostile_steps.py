"""Isolate: an email that makes any step raise is that email's own outcome.

A real worker sends by SMTP and by a provider that takes several emails in one request; at each
step the code raises for one of them, as it would for a row with unexpected values.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import DataError

from mailqueue.adapters.http.model import HttpResponse
from mailqueue.adapters.sending.api import ProviderMail
from mailqueue.adapters.sending.postmark import Postmark
from mailqueue.dkim.signer import DomainSigner, Signers
from mailqueue.mail.message import build
from mailqueue.mail.send import hand_over
from mailqueue.mail.send.store import claims, outcomes
from mailqueue.mime import compose as message
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.smtp.client import batch
from tests import make
from tests.adapters.sending.fake import Request, fake, says
from tests.adapters.sending.test_worker import account, settings_of, worker
from tests.concurrency.running import account_at, session, until
from tests.smtp.client.scripted import scripted

pytestmark = pytest.mark.anyio

Raising = Callable[..., Any]
COUNT = 6
TAKEN = {"ErrorCode": 0, "Message": "OK", "MessageID": "a"}


class OddError(Exception):
    """An unexpected error."""


def raising(genuine: Raising, is_odd: Callable[..., bool]) -> Raising:
    def call(*given: Any, **named: Any) -> Any:
        if is_odd(*given, **named):
            raise OddError
        return genuine(*given, **named)

    return call


def says_odd(value: object) -> bool:
    return "odd@example.org" in str(value) or b"odd@example.org" in bytes(
        getattr(value, "message", b"")
    )


class OddSigner(DomainSigner):
    """Signs all emails but one."""

    def __init__(self) -> None:
        pass

    def sign(self, message: bytes, _: int) -> bytes:
        if b"odd@example.org" in message:
            raise OddError
        return b""


# Where it raises, for which arguments, and what becomes of the email: status, reason.
BY_SMTP: dict[str, tuple[Any, str, Callable[..., bool], str, str]] = {
    "compose": (
        build,
        "compose",
        lambda _, of: any(says_odd(one.address.sent) for one in of.to),
        "failed",
        "OddError while composing",
    ),
    "envelope": (
        batch,
        "encode",
        lambda mail, _: says_odd(mail.envelope.recipients),
        "failed",
        "OddError while encoding its envelope",
    ),
    "verdict": (
        hand_over,
        "outcome_of",
        lambda attempt, *_: says_odd(attempt.addresses),
        "pending",
        "OddError while sending",
    ),
}
# Fewer emails at a time may find memory: it is retried, and no other email fails for it.
OUT_OF_MEMORY = "MemoryError while composing"
BY_PROVIDER: dict[str, tuple[Any, str, Callable[..., bool], str, str]] = {
    "write": (
        Postmark,
        "write",
        lambda _, mail: says_odd(mail.envelope.recipients),
        "pending",
        "OddError while composing for the provider",
    ),
    "call": (
        Postmark,
        "call",
        lambda _, group: any(says_odd(one.mail.envelope) for one in group),
        "pending",
        "OddError while building its request",
    ),
}


async def mails_of(conn: Any, **columns: str) -> tuple[UUID, list[UUID]]:
    """Queue emails, one of which is odd; return it and the others."""
    names = [*(f"n{number}" for number in range(COUNT)), "odd", "later"]
    ids = {
        name: await make.queued_email(conn, recipient_email=f"{name}@example.org", **columns)
        for name in names
    }
    return ids.pop("odd"), list(ids.values())


async def ended(conn: Any, odd: UUID, others: Sequence[UUID], *, status: str, reason: str) -> None:
    """Wait until all others are sent, and the odd one has this status and reason."""

    async def is_so() -> bool:
        states = [await make.status_of(conn, one) for one in (odd, *others)]
        return states == [status, *["sent"] * len(others)] and (
            status != "pending"
            or await make.scalar(
                conn, "SELECT last_error FROM mailqueue.email_queue WHERE id = %s", odd
            )
            == reason
        )

    await until(is_so)
    if status != "pending":
        query = "SELECT reason FROM mailqueue.email_history WHERE id = %s"
        assert await make.scalar(conn, query, odd) == reason


@pytest.mark.parametrize("step", BY_SMTP)
async def test_by_smtp(
    step: str, database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, is_odd, status, reason = BY_SMTP[step]
    monkeypatch.setattr(where, name, raising(getattr(where, name), is_odd))
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        odd, others = await mails_of(conn)
        async with worker(settings_of(database, tmp_path)):
            await ended(conn, odd, others, status=status, reason=reason)


async def test_by_smtp_while_memory_is_short(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, is_odd, _, _ = BY_SMTP["compose"]
    genuine = message.compose

    def compose(skeleton: Any, of: Any) -> bytes:
        if is_odd(skeleton, of):
            raise MemoryError
        return genuine(skeleton, of)

    monkeypatch.setattr(build, "compose", compose)
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        odd, others = await mails_of(conn)
        async with worker(settings_of(database, tmp_path)):
            await ended(conn, odd, others, status="pending", reason=OUT_OF_MEMORY)


async def test_by_smtp_while_it_is_signed(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Signers, "of", lambda *_: OddSigner())
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        odd, others = await mails_of(conn)
        async with worker(settings_of(database, tmp_path)):
            reason = "OddError while composing"
            await ended(conn, odd, others, status="failed", reason=reason)


async def test_while_its_content_is_read(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim cannot be read, then the contents of one of its emails."""
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        odd, others = await mails_of(conn)
        content = await make.scalar(
            conn, "SELECT content_id FROM mailqueue.email_queue WHERE id = %s", odd
        )

        async def take(*_: Any, **__: Any) -> Any:
            raise OddError

        monkeypatch.setattr(claims, "take", take)
        is_odd = raising(claims.read_contents, lambda _, ids, **__: content in ids)
        monkeypatch.setattr(claims, "read_contents", is_odd)
        async with worker(settings_of(database, tmp_path)):
            reason = "OddError while what it says was read"
            await ended(conn, odd, others, status="failed", reason=reason)


async def test_while_its_outcome_is_written(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database refuses the outcome: it is written without its details."""
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        odd, others = await mails_of(conn)
        genuine = outcomes._columns

        def columns(group: Sequence[Any]) -> dict[str, str]:
            if any(one.id == odd and one.reply is not None for one in group):
                raise DataError("odd")
            return genuine(group)

        monkeypatch.setattr(outcomes, "_columns", columns)
        async with worker(settings_of(database, tmp_path)):

            async def all_sent() -> bool:
                states = [await make.status_of(conn, one) for one in (odd, *others)]
                return set(states) == {"sent"}

            await until(all_sent)


def answering(request: Request) -> Any:
    """Accept all emails of a request."""
    found = request.json
    return says(200, [TAKEN] * len(found) if isinstance(found, list) else TAKEN)


@pytest.mark.parametrize("step", BY_PROVIDER)
async def test_by_a_provider(
    step: str, database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, is_odd, status, reason = BY_PROVIDER[step]
    monkeypatch.setattr(where, name, raising(getattr(where, name), is_odd))
    async with fake([answering]) as server, session(database) as conn:
        await account(conn, "postmark", server)
        odd, others = await mails_of(conn, sender="postmark")
        async with worker(settings_of(database, tmp_path)):
            await ended(conn, odd, others, status=status, reason=reason)


async def test_by_a_provider_whose_answer_cannot_be_read(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emails of the same request are unknown, as they were handed over; no others are."""
    genuine = Postmark.judge
    doubtful = set[UUID]()

    def judge(self: Postmark, group: Sequence[ProviderMail], answer: HttpResponse) -> Any:
        ids = {one.mail.email_id for one in group}
        if any(says_odd(one.mail.envelope) for one in group):
            doubtful.update(ids)
            raise OddError
        return genuine(self, group, answer)

    monkeypatch.setattr(Postmark, "judge", judge)
    async with fake([answering]) as server, session(database) as conn:
        await account(conn, "postmark", server)
        odd, others = await mails_of(conn, sender="postmark", delivery="hold")
        async with worker(settings_of(database, tmp_path)):

            async def all_ended() -> bool:
                states = {await make.status_of(conn, one) for one in (odd, *others)}
                return states <= {"sent", "held"}

            await until(all_ended)
        for one in (odd, *others):
            wanted = "held" if one in doubtful else "sent"
            assert await make.status_of(conn, one) == wanted
        assert odd in doubtful

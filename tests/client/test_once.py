"""After lost responses nothing happens twice, and errors are reported as what they are."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from mailqueue.client import (
    ApiError,
    Attachment,
    BadAnswer,
    Client,
    Forbidden,
    InvalidRequest,
    NoAnswer,
    NotFound,
    Retries,
    SyncClient,
    TooManyRequests,
    Unauthorized,
)
from mailqueue.core.errors import InvalidField
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from tests import make
from tests.api.support.calling import Calling
from tests.client.serving import Wire, client_of, wire_of

pytestmark = pytest.mark.anyio


pytestmark = pytest.mark.anyio


HI: Any = {"subject": "Hi", "text": "Hello"}


PDF = b"%PDF-1.7 nothing"


@pytest.fixture
async def client(shared_api: Calling) -> AsyncIterator[Client]:
    async with client_of(shared_api) as made:
        yield made


async def count(api: Calling, to: str) -> int:
    query = "SELECT count(*) FROM mailqueue.email_queue WHERE recipient_email = %s"
    async with api.pool.connection() as conn:
        return int(await make.scalar(conn, query, to))


def somebody() -> str:
    return f"{uuid4().hex[:12]}@example.com"


LOST = [
    httpx2.ReadTimeout("the answer was lost"),
    httpx2.RemoteProtocolError("cut off"),
    httpx2.Response(502, content=b"<html>"),
]


@pytest.mark.parametrize("lost", LOST, ids=lambda one: type(one).__name__)
async def test_a_lost_answer_never_sends_twice(shared_api: Calling, lost: Any) -> None:
    to = somebody()
    wire = Wire(wire_of(shared_api), [lost, lost])
    async with client_of(shared_api, wire) as client:
        sent = await client.send(to, **HI)
        wire.fates = [lost]
        batch = await client.send_batch([to, to], **HI)
        wire.fates = [lost, lost]
        again = await client.cancel(sent.id)
        wire.fates = [lost]
        anew = await client.resend(sent.id)

    assert sent.is_repeated
    assert await count(shared_api, to) == 3
    assert batch.accepted == 2
    assert (again.result, anew.result) == ("cancelled", "requeued")
    assert len(wire.requests) == 10
    bodies = [one.content for one in wire.requests[:3]]
    assert bodies[0] == bodies[1] == bodies[2]


async def test_each_mail_has_a_key_of_its_own(client: Client, shared_api: Calling) -> None:
    to = somebody()

    await client.send(to, **HI)
    await client.send(to, **HI)
    given = [await client.send(to, idempotency_key="order 81 – é", **HI) for _ in range(2)]

    assert await count(shared_api, to) == 3
    assert given[0].id == given[1].id
    assert [one.is_repeated for one in given] == [False, True]
    with pytest.raises(InvalidRequest) as caught:
        await client.send(to, idempotency_key="order 81 – é", subject="Other", text="x")
    assert caught.value.field == "idempotency_key"


async def test_a_deletion_is_not_repeated_where_it_may_have_been_done(
    shared_api: Calling,
) -> None:
    to = somebody()
    wire = Wire(wire_of(shared_api), [None, None, httpx2.ReadTimeout("lost")])
    async with client_of(shared_api, wire) as client:
        await client.suppress(to)
        with pytest.raises(NoAnswer) as caught:
            await client.unsuppress(to)
        assert not (await client.check_suppression(to)).suppressed
    assert caught.value.attempts == 1


async def test_errors_say_what_whose_and_where(client: Client, shared_api: Calling) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await client.send("nobody", **HI)
    error = caught.value
    assert (error.status, error.code, error.field) == (422, "invalid_field", "to")
    assert error.why
    assert error.request_id
    assert isinstance(error, InvalidField)
    for mail, field in (
        ({"subject": "x"}, "html"),
        ({"text": "x"}, "subject"),
        (HI | {"run_at": datetime(2030, 1, 1)}, "run_at"),  # noqa: DTZ001
        (HI | {"sender": "gone"}, "sender"),
        (HI | {"colour": "red"}, "colour"),
        (HI | {"text": "\0"}, "text"),
        (HI | {"custom_data": {"a": object()}}, "custom_data"),
    ):
        with pytest.raises(InvalidField) as refused:
            await client.send("ann@example.com", **mail)
        assert refused.value.field == field, mail
    with pytest.raises(NotFound) as missing:
        await client.get(uuid4())
    assert missing.value.status == 404
    for strange in ("../admin", "a/b", "..", "", "é?"):
        with pytest.raises((NotFound, InvalidField)):
            await client.get(strange)


async def test_a_key_is_refused_in_words_of_its_own(shared_api: Calling) -> None:
    async with shared_api.pool.connection() as conn:
        reads = await issue_key(conn, "default", "reads", is_test=False, scopes=[Scope.EMAIL_READ])
        slow = await issue_key(conn, "default", "slow", is_test=False, requests_per_second=1)

    for key, kind in (("mq_live_nobody", Unauthorized), (reads.key.reveal(), Forbidden)):
        async with Client("http://api.example", key, transport=wire_of(shared_api)) as client:
            with pytest.raises(kind) as caught:
                await client.send("ann@example.com", **HI)
        assert isinstance(caught.value, ApiError)
        assert (caught.value.needed is not None) == (kind is Forbidden)
    one = Retries(longest_wait=0)
    async with Client(
        "http://api.example", slow.key.reveal(), retries=one, transport=wire_of(shared_api)
    ) as client:
        first = await asyncio.gather(*(client.list() for _ in range(100)), return_exceptions=True)
    assert any(isinstance(one, TooManyRequests) and one.retry_after for one in first)


async def test_an_answer_of_another_server_is_recognized(shared_api: Calling) -> None:
    for answer in (
        httpx2.Response(200, content=b"<html>"),
        httpx2.Response(200, json=[]),
        httpx2.Response(200, json={"id": 5, "status": "queued", "reason": None}),
        httpx2.Response(301, headers={"location": "http://other.example"}),
        httpx2.Response(404, content=b"nginx"),
    ):
        async with client_of(shared_api, Wire(wire_of(shared_api), [answer])) as client:
            with pytest.raises(BadAnswer) as caught:
                await client.send("ann@example.com", **HI)
        assert caught.value.status == answer.status_code


async def test_a_server_that_is_away_is_told_after_some_attempts(shared_api: Calling) -> None:
    wire = Wire(wire_of(shared_api), [httpx2.ConnectError("refused")] * 9)
    async with client_of(shared_api, wire) as client:
        with pytest.raises(NoAnswer, match=r"4 attempts"):
            await client.get(uuid4())


async def test_secrets_are_nowhere_to_be_seen(
    shared_api: Calling, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wire = Wire(wire_of(shared_api), [httpx2.ReadTimeout("lost")] * 4)
    async with client_of(shared_api, wire) as client:
        with pytest.raises(NoAnswer) as caught:
            await client.send("ann@example.com", attachments=[Attachment("a.pdf", PDF)], **HI)
        seen = [repr(client), repr(client._way), repr(vars(client)), repr(caught.value)]
    with SyncClient("http://api.example/", shared_api.key) as sync:
        seen += [repr(sync), repr(vars(sync)), caplog.text, repr(Attachment("a.pdf", PDF))]

    assert not any(shared_api.key in text or "nothing" in text for text in seen)
    assert seen[0] == "Client('http://api.example', ***)"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("127.0.0.1:8025", "k"),
        ("ftp://127.0.0.1", "k"),
        ("http://", "k"),
        ("http://ann:secret@127.0.0.1", "k"),
        ("http://127.0.0.1?x=1", "k"),
        ("http://127.0.0.1", ""),
        ("http://127.0.0.1", "ké"),
    ],
)
def test_a_url_or_key_that_is_none_is_refused_at_once(url: str, key: str) -> None:
    with pytest.raises(ValueError, match=r"is needed|a host, a port and a path only") as caught:
        SyncClient(url, key)
    assert "secret" not in str(caught.value)

"""The header traceparent of a request is kept with its mail; it never fails a request."""

from typing import Any

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import HELLO, Calling
from tests.rows import each_row

pytestmark = pytest.mark.anyio

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01"


async def data_of(api: Calling, email_id: str) -> Any:
    async with connect(api.database) as conn:
        query = "SELECT custom_data FROM mailqueue.emails WHERE id = %s::uuid"
        return await make.scalar(conn, query, email_id)


async def test_the_context_of_a_request_is_kept_with_its_email(api: Calling) -> None:
    plain = (await api.send(traceparent=TRACE)).json()["id"]
    own = (await api.send(HELLO | {"custom_data": {"order": 7}}, traceparent=TRACE)).json()["id"]
    without = (await api.send()).json()["id"]

    assert await data_of(api, plain) == {"traceparent": TRACE}
    assert await data_of(api, own) == {"order": 7, "traceparent": TRACE}
    assert await data_of(api, without) is None


async def test_each_email_of_a_batch_has_the_context(api: Calling) -> None:
    answer = await api.post(
        "/v1/send/batch",
        {
            "subject": "Hello",
            "text_body": "x",
            "recipients": [
                {"email": "a@example.com"},
                {"email": "b@example.com", "custom_data": {"n": 1}},
            ],
        },
        traceparent=TRACE,
    )

    found = [await data_of(api, each) for each in answer.json()["email_ids"]]
    assert found == [{"traceparent": TRACE}, {"n": 1, "traceparent": TRACE}]


async def test_what_the_caller_wrote_as_custom_data_wins(api: Calling) -> None:
    body = HELLO | {"custom_data": {"traceparent": OTHER}}

    email = (await api.send(body, traceparent=TRACE)).json()["id"]

    assert await data_of(api, email) == {"traceparent": OTHER}


@each_row("header", ["", "nonsense", TRACE + "-x", TRACE.upper(), "é" * 300])
async def test_a_malformed_context_is_ignored(api: Calling, header: str) -> None:
    answer = await api.http.post(
        "/v1/send",
        json=HELLO,
        headers=[(b"X-API-Key", api.key.encode()), (b"traceparent", header.encode())],
    )

    assert answer.status_code == 202, answer.text
    assert await data_of(api, answer.json()["id"]) is None


async def test_two_contexts_are_none(api: Calling) -> None:
    answer = await api.http.post(
        "/v1/send",
        json=HELLO,
        headers=[("X-API-Key", api.key), ("traceparent", TRACE), ("traceparent", OTHER)],
    )

    assert answer.status_code == 202, answer.text
    assert await data_of(api, answer.json()["id"]) is None


async def test_a_repeated_request_with_another_span_is_the_same_request(api: Calling) -> None:
    first = await api.send(traceparent=TRACE, Idempotency_Key="order-81")
    again = await api.send(traceparent=OTHER, Idempotency_Key="order-81")
    without = await api.send(Idempotency_Key="order-81")
    changed = await api.send(
        HELLO | {"custom_data": {"order": 8}}, traceparent=TRACE, Idempotency_Key="order-81"
    )

    assert {one.json()["id"] for one in (first, again, without)} == {first.json()["id"]}
    assert changed.status_code in (409, 422), changed.text


async def test_custom_data_near_its_limit_is_not_pushed_beyond_it(api: Calling) -> None:
    body = HELLO | {"custom_data": {"much": "x" * 65_500}}

    answer = await api.send(body, traceparent=TRACE)

    assert answer.status_code == 202, answer.text
    assert await data_of(api, answer.json()["id"]) == body["custom_data"]


async def test_compatible_endpoints_keep_it_too(api: Calling) -> None:
    answer = await api.http.post(
        "/emails",
        json={"from": "shop@example.com", "to": "a@example.com", "subject": "s", "text": "t"},
        headers={"Authorization": f"Bearer {api.key}", "traceparent": TRACE},
    )

    assert answer.status_code == 200, answer.text
    assert (await data_of(api, answer.json()["id"]))["traceparent"] == TRACE

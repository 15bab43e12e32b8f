"""An idempotency key is of one request, whichever endpoint of sending has it."""

import asyncio
from typing import Any

import pytest

from mailqueue.maintenance.store.tasks import sweep_idempotency_keys
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of
from tests.rows import each_row

pytestmark = pytest.mark.anyio


async def queued(api: Calling) -> int:
    async with api.pool.connection() as conn:
        found: int = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
        return found


BATCH = {"subject": "s", "text_body": "t", "recipients": [{"email": "ann@example.com"}]}
BODY_BY_PATH: dict[str, dict[str, Any]] = {
    "/v1/send": HELLO,
    "/v1/send/template": {"to": ["ann@example.com"], "template_slug": "welcome"},
    "/v1/send/batch": BATCH,
    "/v1/send/template/batch": {
        "template_slug": "welcome",
        "recipients": [{"email": "ann@example.com"}],
    },
    "/v1/suppressions": {"email": "bob@example.com"},
}


async def published(api: Calling) -> None:
    """Publish the template `welcome`."""
    base = "/v1/projects/default/templates"
    for path, body in (
        (base, {"slug": "welcome", "name": "w", "category": "transactional"}),
        (f"{base}/welcome/versions", {"subject": "s", "text_body": "t"}),
        (f"{base}/welcome/versions/1/publish", {}),
    ):
        answer = await api.post(path, body)
        assert answer.is_success, answer.text


async def test_a_key_that_one_endpoint_used_is_refused_by_the_others(api: Calling) -> None:
    await published(api)
    for first, body in BODY_BY_PATH.items():
        key = f"key-of-{first.replace('/', '-')}"
        done = await api.post(first, body, Idempotency_Key=key)
        assert done.is_success, done.text
        before = await queued(api)
        for other in BODY_BY_PATH.keys() - {first}:
            refused = await api.post(other, BODY_BY_PATH[other], Idempotency_Key=key)
            assert refused.status_code == 422, (first, other, refused.text)
            assert error_of(refused)["field"] in ("idempotency_key", "Idempotency-Key")
        again = await api.post(first, body, Idempotency_Key=key)
        assert (again.status_code, again.json()) == (done.status_code, done.json())
        assert again.headers["idempotent-replayed"] == "true"
        assert await queued(api) == before


async def test_of_two_endpoints_at_once_under_one_key_one_takes_effect(api: Calling) -> None:
    for n in range(8):
        answers = await asyncio.gather(
            api.post("/v1/send", HELLO, Idempotency_Key=f"k{n}"),
            api.post("/v1/send/batch", BATCH, Idempotency_Key=f"k{n}"),
        )
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses in ([200, 422], [202, 422]), [answer.text for answer in answers]
    assert await queued(api) == 8


async def test_a_refused_request_uses_up_no_key_of_mail(api: Calling) -> None:
    wrong = BATCH | {"recipients": [{"email": "nobody"}], "strict": True}
    refused = await api.post("/v1/send/batch", wrong, Idempotency_Key="free")
    assert refused.status_code == 422

    assert (await api.send(Idempotency_Key="free")).status_code == 202


async def test_a_key_of_a_request_is_free_after_a_day(api: Calling) -> None:
    await api.post("/v1/send/batch", BATCH, Idempotency_Key="daily")
    async with api.pool.connection() as conn:
        for table in ("idempotency_keys", "idempotent_answers"):
            change = f"UPDATE mailqueue.{table} SET created_at = created_at - interval '25 h'"
            assert (await conn.execute(change.encode())).rowcount == 1
        done = await api.post("/v1/send/batch", BATCH, Idempotency_Key="daily")
        assert "idempotent-replayed" not in done.headers
        other = await api.send(Idempotency_Key="daily")
        assert other.status_code == 422
        await conn.execute(
            b"UPDATE mailqueue.idempotency_keys SET created_at = created_at - interval '25 h'"
        )
        assert await sweep_idempotency_keys(conn, from_page=0, until_page=99) == 1
    assert (await api.send(Idempotency_Key="daily")).status_code == 202


@each_row("key", ["", "with space", "é", "k" * 256])
async def test_a_header_that_is_no_key_is_refused(api: Calling, key: str) -> None:
    for path in ("/v1/send", "/v1/send/batch"):
        headers = {b"X-API-Key": api.key.encode(), b"Idempotency-Key": key.encode("latin-1")}
        refused = await api.http.post(path, json=BODY_BY_PATH[path], headers=headers)
        assert (refused.status_code, error_of(refused)["field"]) == (422, "Idempotency-Key")

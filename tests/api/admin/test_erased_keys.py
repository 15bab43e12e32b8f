"""Idempotency keys keep nothing by which an erased person could be named or confirmed."""

from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling
from tests.contacts.sends import steps

pytestmark = pytest.mark.anyio
ANN, BOB = "ann@example.com", "bob@example.com"
HELLO: dict[str, Any] = {"subject": "Hello", "text_body": "Hello"}
BATCH = HELLO | {"recipients": [{"email": ANN}, {"email": BOB}]}
KEYS = "SELECT key, fingerprint FROM mailqueue.idempotency_keys ORDER BY key"
ANSWERS = "SELECT fingerprint FROM mailqueue.idempotent_answers"


async def read(api: Calling, query: str) -> list[tuple[Any, ...]]:
    async with connect(api.database) as conn:
        return await make.rows(conn, query)


async def erased(api: Calling, email: str = ANN) -> dict[str, Any]:
    """Erase a person by the API; return the number of rows by table."""
    path = f"/v1/suppressions/{email}/erase"
    answer = await api.http.request("DELETE", path, headers={"X-API-Key": api.key})
    assert (answer.status_code, answer.json()["state"]) == (200, "done"), answer.text
    rows: dict[str, Any] = answer.json()["rows"]
    return rows


async def test_the_key_of_a_batch_that_contains_the_address_is_exported_and_deleted(
    api: Calling,
) -> None:
    """Also as a part of a longer word: no mail has the key, which would be found by it."""
    made = await api.post("/v1/send/batch", BATCH, Idempotency_Key=f"may-{ANN}")
    assert made.status_code == 202, made.text
    await api.post("/v1/send/batch", HELLO | {"recipients": [{"email": BOB}]}, Idempotency_Key="b")
    assert [key for key, _ in await read(api, KEYS)] == ["b", f"may-{ANN}"]

    told = (await api.get(f"/v1/suppressions/{ANN}/export")).json()
    rows = await erased(api)

    [named] = told["records"]["idempotency_keys"]
    assert named["key"] == f"may-{ANN}"
    assert (rows["idempotency_keys"], rows["idempotent_answers"]) == (1, 1)
    assert [key for key, _ in await read(api, KEYS)] == ["b"]
    assert len(await read(api, ANSWERS)) == 1  # that of Bob's batch


async def test_a_batch_of_resend_whose_answer_has_ids_alone_loses_its_fingerprint(
    api: Calling,
) -> None:
    emails = [
        {"from": "shop@example.com", "to": [to], "subject": "x", "text": "x"} for to in (ANN, BOB)
    ]
    auth = {"Authorization": f"Bearer {api.key}"}
    for key, batch in (("both", emails), ("bob", emails[1:])):
        made = await api.post("/emails/batch", batch, Idempotency_Key=key, **auth)
        assert made.status_code == 200, made.text
    before = await read(api, ANSWERS)

    await erased(api)

    assert len(set(before) & set(await read(api, ANSWERS))) == 1
    again = await api.post("/emails/batch", emails, Idempotency_Key="both", **auth)
    assert (again.status_code, again.json()["name"]) == (409, "invalid_idempotent_request")
    bobs = await api.post("/emails/batch", emails[1:], Idempotency_Key="bob", **auth)
    assert bobs.status_code == 200


async def test_mail_with_other_recipients_loses_its_fingerprint_finished_or_not(
    api: Calling,
) -> None:
    mail = HELLO | {"to": [BOB, ANN]}
    assert (await api.post("/v1/send", mail, Idempotency_Key="both")).status_code == 202
    assert (await api.post("/v1/send", HELLO | {"to": [BOB]}, Idempotency_Key="b")).is_success
    before = dict(await read(api, KEYS))

    await erased(api)

    after = dict(await read(api, KEYS))
    assert after["both"] != before["both"]
    assert after["b"] == before["b"]
    again = await api.post("/v1/send", mail, Idempotency_Key="both")
    assert (again.status_code, again.json()["field"]) == (422, "idempotency_key")


async def test_mail_to_a_list_that_names_the_person_loses_its_fingerprint(api: Calling) -> None:
    query = "SELECT mailqueue.enqueue('default', 'news', 'Hello', NULL, %s, %s)"

    async def enqueued(text: str, key: str) -> object:
        options = Jsonb({"category": "marketing", "idempotency_key": key})
        async with connect(api.database) as conn:
            return await make.scalar(conn, query, text, options)

    async with connect(api.database) as conn:
        await steps.listed(conn, await make.project_named(conn), 1)
    first = await enqueued("We moved.", "move")
    await enqueued(f"Ask {ANN}.", "ask")
    before = dict(await read(api, KEYS))

    await erased(api)

    after = dict(await read(api, KEYS))
    assert after["ask"] != before["ask"]
    assert await enqueued("We moved.", "move") == first
    with pytest.raises(errors.InvalidParameterValue, match=r"^idempotency_key: "):
        await enqueued(f"Ask {ANN}.", "ask")


async def test_the_key_of_a_batch_that_names_another_person_is_neither_exported_nor_deleted(
    api: Calling,
) -> None:
    keys = ["may-joann@example.com", "may-lee.ann@example.com", "may-ann@example.com.au"]
    for key in keys:
        batch = HELLO | {"recipients": [{"email": BOB}]}
        assert (await api.post("/v1/send/batch", batch, Idempotency_Key=key)).status_code == 202

    told = (await api.get(f"/v1/suppressions/{ANN}/export")).json()
    await erased(api)

    assert told["records"] == {}
    assert {key for key, _ in await read(api, KEYS)} == set(keys)


async def test_a_key_that_contains_the_address_is_deleted_with_an_answer_that_does_not(
    api: Calling,
) -> None:
    batch = HELLO | {"recipients": [{"email": BOB}]}
    made = await api.post("/v1/send/batch", batch, Idempotency_Key=f"may-{ANN}")
    assert made.status_code == 202, made.text

    await erased(api)

    assert await read(api, KEYS) == []
    assert await read(api, ANSWERS) == []


async def test_a_key_that_other_mail_has_now_keeps_its_fingerprint(api: Calling) -> None:
    """A key may be used again once its retention is over."""
    made = await api.post("/v1/send", HELLO | {"to": [BOB, ANN]}, Idempotency_Key="weekly")
    assert made.status_code == 202, made.text
    async with connect(api.database) as conn:
        await conn.execute("DELETE FROM mailqueue.idempotency_keys")
    mail = HELLO | {"to": [BOB]}
    first = await api.post("/v1/send", mail, Idempotency_Key="weekly")

    await erased(api)

    again = await api.post("/v1/send", mail, Idempotency_Key="weekly")
    assert again.json().get("id") == first.json()["id"], again.text

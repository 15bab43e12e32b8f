"""Outboxes over HTTP."""

from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from tests.api.support.calling import Calling
from tests.publishing import outboxes
from tests.webhooks.delivering import webhook

pytestmark = pytest.mark.anyio
OUTBOXES = "/v1/outboxes"


async def hook(api: Calling, url: str = "https://shop.example.com/hook") -> str:
    async with connect(api.database) as conn:
        return str(await webhook(conn, url))


async def test_an_outbox_is_added_shown_changed_and_removed(api: Calling) -> None:
    one, two = await hook(api), await hook(api, "https://shop2.example.com/hook")
    added = await api.post(OUTBOXES, {"name": "orders", "target": one})
    assert added.status_code == 201, added.text
    assert (added.json()["target"], added.json()["waiting"]) == (one, 0)
    assert (await api.post(OUTBOXES, {"name": "orders", "target": one})).status_code == 409

    changed = await api.put(f"{OUTBOXES}/orders", {"target": two})
    assert changed.json()["target"] == two
    assert (await api.get(OUTBOXES)).json() == {"data": [changed.json()]}
    assert (await api.get(f"{OUTBOXES}/orders")).json() == changed.json()

    assert (await api.delete(f"{OUTBOXES}/orders")).status_code == 204
    assert (await api.get(f"{OUTBOXES}/orders")).status_code == 404
    assert (await api.delete(f"{OUTBOXES}/orders")).status_code == 404


async def test_an_invalid_outbox_is_refused_with_the_field(api: Calling) -> None:
    refused = await api.post(OUTBOXES, {"name": "orders", "target": str(uuid4())})
    assert refused.status_code == 422
    assert "target" in refused.text
    misnamed = await api.post(OUTBOXES, {"name": "Orders!", "target": await hook(api)})
    assert misnamed.status_code == 422
    assert "name" in misnamed.text


async def test_the_events_that_an_outbox_publishes_are_set_kept_and_ended(api: Calling) -> None:
    target = await hook(api)
    bounced = "email.hard_bounce"
    added = await api.post(OUTBOXES, {"name": "mail", "target": target, "events": [bounced]})
    assert added.json()["events"] == [bounced]

    kept = await api.put(f"{OUTBOXES}/mail", {"target": target})
    assert kept.json()["events"] == [bounced]
    wrong = await api.put(f"{OUTBOXES}/mail", {"target": target, "events": ["bounced"]})
    assert wrong.status_code == 422
    every = await api.put(f"{OUTBOXES}/mail", {"target": target, "events": []})
    assert every.json()["events"] == []
    assert (await api.delete(f"{OUTBOXES}/mail")).status_code == 409
    none = await api.put(f"{OUTBOXES}/mail", {"target": target, "events": None})
    assert none.json()["events"] is None

    assert (await api.delete(f"{OUTBOXES}/mail")).status_code == 204


async def test_a_message_that_waits_is_left_out(api: Calling) -> None:
    await api.post(OUTBOXES, {"name": "orders", "target": await hook(api)})
    async with connect(api.database) as conn:
        message = await outboxes.publish(conn, outbox="orders")
    assert (await api.get(f"{OUTBOXES}/orders")).json()["waiting"] == 1

    skip = f"{OUTBOXES}/orders/skip"
    assert (await api.post(skip, {"message_id": str(message)})).status_code == 204
    assert (await api.get(f"{OUTBOXES}/orders")).json()["waiting"] == 0
    assert (await api.post(skip, {"message_id": str(message)})).status_code == 404

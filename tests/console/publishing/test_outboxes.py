"""Outboxes in the console: added, changed, looked at, a message left out, removed."""

from uuid import uuid4

import pytest

from mailqueue.contract.automation.publishing import OutboxTransport
from mailqueue.publishing import outboxes
from tests import make
from tests.console.visiting import Visiting
from tests.publishing.outboxes import publish
from tests.webhooks.delivering import webhook

pytestmark = pytest.mark.anyio

PATH = "/console/projects/default/outboxes"
ORDERS = f"{PATH}/orders"


async def test_an_outbox_is_added_changed_and_removed(console: Visiting) -> None:
    await console.add_user("ann", "project_admin", "default")
    async with console.visitor() as ann, console.connection() as conn:
        project = await make.project_named(conn)
        hook = str(await webhook(conn, "https://app.example.com/hooks"))
        await ann.log_in("ann")
        assert "No outbox yet" in (await ann.get(PATH)).text
        new = {"name": "orders", "transport": "webhook", "target": hook}
        added = await ann.submit(f"{PATH}/~new", f"{PATH}/~new", **new)
        again = await ann.submit(f"{PATH}/~new", f"{PATH}/~new", **new)
        assert added.headers["location"] == f"{ORDERS}?done=added"
        assert again.status_code == 422
        assert "There is an outbox of this name" in again.text
        page = (await ann.get(ORDERS)).text
        assert f"/console/projects/default/webhooks/{hook}" in page

        changed = {"transport": "rabbitmq", "target": "cloudevents:shop.events"}
        events = {"events": "email.delivered\r\nemail.hard_bounce"}
        for more, found in (
            (events, ["email.delivered", "email.hard_bounce"]),
            ({"events": "*"}, []),
            ({"events": ""}, None),
        ):
            done = await ann.submit(f"{ORDERS}/change", f"{ORDERS}/change", **changed, **more)
            assert done.headers["location"] == f"{ORDERS}?done=changed"
            assert (await outboxes.get(conn, project, "orders")).events == found
        assert (await outboxes.get(conn, project, "orders")).target == "cloudevents:shop.events"

        gone = await ann.submit(f"{ORDERS}/remove", f"{ORDERS}/remove")
        assert gone.headers["location"] == f"{PATH}?done=removed"
        assert await outboxes.list_(conn, project) == []


async def test_faults_are_shown_beside_their_fields_and_nothing_is_added(
    console: Visiting,
) -> None:
    await console.add_user("ann", "project_admin", "default")
    async with console.visitor() as ann, console.connection() as conn:
        project = await make.project_named(conn)
        other = await make.project(conn, "other")
        theirs = str(await webhook(conn, "https://app.example.com/hooks", project_id=other))
        await ann.log_in("ann")
        for field, given in (
            ("target", {"name": "orders", "transport": "webhook", "target": theirs}),
            ("target", {"name": "orders", "transport": "rabbitmq", "target": '"><script>'}),
            ("name", {"name": "No Name", "transport": "rabbitmq", "target": "masstransit"}),
            (
                "events",
                {"name": "o", "transport": "rabbitmq", "target": "masstransit", "events": "x"},
            ),
        ):
            refused = await ann.submit(f"{PATH}/~new", f"{PATH}/~new", **given)
            assert refused.status_code == 422, given
            assert f'id="fault-{field}"' in refused.text, given
            assert "<script>" not in refused.text.partition("<main")[2]
        assert await outboxes.list_(conn, project) == []


async def test_a_message_that_stops_the_others_is_left_out(console: Visiting) -> None:
    await console.add_user("ann", "project_admin", "default")
    async with console.visitor() as ann, console.connection() as conn:
        project = await make.project_named(conn)
        hook = await webhook(conn, "https://app.example.com/hooks")
        await outboxes.add(
            conn, project, "orders", transport=OutboxTransport.WEBHOOK, target=str(hook), by="tests"
        )
        first, _ = [await publish(conn, number, outbox="orders") for number in range(2)]
        await ann.log_in("ann")
        skip = f"{ORDERS}/skip"
        unknown = await ann.submit(skip, skip, message_id=str(uuid4()))
        done = await ann.submit(skip, skip, message_id=str(first))

        assert "2 messages will be published in order" not in (await ann.get(ORDERS)).text
        assert unknown.status_code == 422
        assert "No message of this id waits" in unknown.text
        assert done.headers["location"] == f"{ORDERS}?done=skipped"
        assert (await outboxes.get(conn, project, "orders")).waiting == 1
        assert "1 message will be published" in (await ann.get(ORDERS)).text

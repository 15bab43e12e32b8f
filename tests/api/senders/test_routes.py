"""Routing rules over HTTP: listed, added, tried and removed, of one project only."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import error_of
from tests.api.support.wired import Wired, wired

pytestmark = pytest.mark.anyio

PATH = "/v1/projects/shop/routes"


@pytest.fixture
async def shop(database: DatabaseSettings) -> AsyncIterator[Wired]:
    async with wired(database) as made:
        yield made


async def test_a_rule_is_added_before_another_tried_and_removed(shop: Wired) -> None:
    await shop.made(name="bulk")
    await shop.made(name="spare")
    rule = {"category": "marketing", "senders": ["bulk", "spare"], "note": "newsletters"}
    first = await shop.call("POST", PATH, rule)
    before = {"domain": "*.example.com", "senders": ["spare"], "position": 1}
    second = await shop.call("POST", PATH, before)
    listed = (await shop.call("GET", PATH, key=shop.reads)).json()["data"]
    mail = {"recipient": "ann@example.org", "category": "marketing"}
    tried = await shop.call("POST", f"{PATH}/test", mail, key=shop.reads)
    matched = await shop.call("POST", f"{PATH}/test", {"recipient": "ann@mx.example.com"})
    removed = await shop.call("DELETE", f"{PATH}/{first.json()['rule_id']}")
    again = await shop.call("DELETE", f"{PATH}/{first.json()['rule_id']}")
    left = (await shop.call("GET", PATH)).json()["data"]

    assert (first.status_code, second.status_code) == (201, 201)
    assert [(one["position"], one["senders"]) for one in listed] == [
        (1, ["spare"]),
        (2, ["bulk", "spare"]),
    ]
    assert [one["sender"] for one in tried.json()["data"]] == ["bulk", "spare"]
    assert [one["rule_id"] for one in matched.json()["data"]] == [second.json()["rule_id"]]
    assert (removed.status_code, again.status_code) == (204, 404)
    assert [one["rule_id"] for one in left] == [second.json()["rule_id"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"senders": ["bulk"]}, "category"),
        ({"senders": [], "tag": "x"}, "senders"),
        ({"senders": ["none"], "tag": "x"}, "senders"),
        ({"senders": ["bulk", "bulk"], "tag": "x"}, "senders"),
        ({"senders": ["bulk"], "category": "No Category"}, "category"),
        ({"senders": ["bulk"], "domain": "a b"}, "domain"),
        ({"senders": ["bulk"], "tag": "x", "position": 0}, "position"),
        ({"senders": ["bulk"], "tag": "x" * 256}, "tag"),
    ],
)
async def test_a_rule_with_a_fault_is_refused_by_its_field_and_not_added(
    shop: Wired, body: dict[str, object], field: str
) -> None:
    await shop.made(name="bulk")
    answer = await shop.call("POST", PATH, body)
    listed = await shop.call("GET", PATH)

    assert (answer.status_code, error_of(answer)["field"]) == (422, field), answer.text
    assert listed.json()["data"] == []


async def test_a_project_has_at_most_200_rules(shop: Wired) -> None:
    await shop.made(name="bulk")
    async with connect(shop.database) as conn:
        await conn.execute(
            "INSERT INTO mailqueue.routing_rules (project_id, position, tag, accounts)"
            " SELECT a.project_id, n, 't' || n, ARRAY[a.id]"
            " FROM mailqueue.sender_accounts AS a, generate_series(1, 200) AS n"
            " WHERE a.name = 'bulk'"
        )
        answer = await shop.call("POST", PATH, {"senders": ["bulk"], "tag": "one more"})
        kept = await make.scalar(conn, "SELECT count(*) FROM mailqueue.routing_rules")

    assert (answer.status_code, kept) == (422, 200)
    assert "200 routing rules" in error_of(answer)["message"]


async def test_a_key_that_reads_adds_none_and_another_project_sees_none(shop: Wired) -> None:
    await shop.made(name="bulk")
    made = (await shop.call("POST", PATH, {"senders": ["bulk"], "tag": "x"})).json()
    refused = await shop.call("POST", PATH, {"senders": ["bulk"], "tag": "y"}, key=shop.reads)
    theirs = PATH.replace("shop", "other")
    listed = await shop.call("GET", theirs, key=shop.other)
    removed = await shop.call("DELETE", f"{theirs}/{made['rule_id']}", key=shop.other)
    named = await shop.call("POST", theirs, {"senders": ["bulk"], "tag": "x"}, key=shop.other)
    kept = (await shop.call("GET", PATH)).json()["data"]

    assert refused.status_code == 403
    assert (listed.json()["data"], removed.status_code) == ([], 404)
    assert (named.status_code, error_of(named)["field"]) == (422, "senders")
    assert [one["rule_id"] for one in kept] == [made["rule_id"]]

"""A/B tests over HTTP: created, sent, shown, decided and cancelled."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.analytics.ab_tests import steps
from tests.api.support.wired import Wired, wired
from tests.rows import each_row

pytestmark = pytest.mark.anyio
PATH = "/v1/analytics/ab-tests"
SPRING: dict[str, Any] = {
    "name": "Spring",
    "subject": "Spring is here",
    "html_body": "<p>Hello</p>",
    "variants": [{"name": "A", "share": 50, "subject": "Hello"}, {"name": "B", "share": 50}],
    "campaign_id": "spring",
    "sample_percent": 50,
    "min_sample": 5,
}


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Wired]:
    async with wired(database) as made:
        yield made


async def test_a_test_is_created_sent_evaluated_and_shown(database: DatabaseSettings) -> None:
    async with wired(database) as api:
        made = await api.call("POST", PATH, SPRING)
        assert made.status_code == 201, made.text
        test = made.json()
        assert (test["state"], test["alpha"], test["evaluate_after_hours"]) == ("created", 0.05, 24)
        at = f"{PATH}/{test['id']}"
        people = [{"email": f"person{n}@example.com", "name": "Ann"} for n in range(60)]
        added = await api.call("POST", f"{at}/recipients", {"recipients": people})
        assert added.status_code == 202, added.text
        rows = added.json()["results"]
        assert set(Counter(one["status"] for one in rows)) == {"queued", "waiting"}
        by_variant = {
            name: [one["id"] for one in rows if one["variant"] == name] for name in ("A", "B")
        }
        async with connect(database) as conn:
            await steps.finished(conn, [*by_variant["A"], *by_variant["B"]])
            await steps.happened(conn, by_variant["A"])
            running = (await api.call("GET", at)).json()
            assert (running["state"], running["result"]) == ("running", None)
            assert [one["opened"] for one in running["variants"]] == [len(by_variant["A"]), 0]
            await steps.time_over(conn, test["id"])
        await steps.worked(database)

        done = (await api.call("GET", at)).json()
        assert (done["state"], done["result"], done["winner"]) == ("completed", "winner", "A")
        assert done["variants"][1]["p_value"] < 0.05
        listed = (await api.call("GET", PATH)).json()["data"]
        assert [(one["id"], one["winner"]) for one in listed] == [(test["id"], "A")]
        late = await api.call("POST", f"{at}/recipients", {"recipients": people[:1]})
        assert late.status_code == 409


async def test_a_test_is_decided_by_hand_or_cancelled_once(database: DatabaseSettings) -> None:
    async with wired(database) as api:
        first, second = [(await api.call("POST", PATH, SPRING)).json()["id"] for _ in range(2)]
        unknown = await api.call("POST", f"{PATH}/{first}/decide", {"variant": "C"})
        assert (unknown.status_code, "variant" in unknown.text) == (422, True)
        decided = await api.call("POST", f"{PATH}/{first}/decide", {"variant": "B"})
        assert (decided.json()["result"], decided.json()["winner"]) == ("by_hand", "B")
        again = await api.call("POST", f"{PATH}/{first}/decide", {"variant": "A"})
        assert again.status_code == 409
        cancelled = await api.call("POST", f"{PATH}/{second}/cancel")
        assert cancelled.json()["state"] == "cancelling"
        assert (await api.call("POST", f"{PATH}/{second}/cancel")).status_code == 409


async def test_tests_of_others_are_not_there_and_reading_keys_change_none(
    database: DatabaseSettings,
) -> None:
    async with wired(database) as api:
        test = (await api.call("POST", PATH, SPRING)).json()["id"]
        body = {"recipients": [{"email": "ann@example.com"}]}
        for method, path, sent in (
            ("GET", "", None),
            ("POST", "/recipients", body),
            ("POST", "/decide", {"variant": "A"}),
            ("POST", "/cancel", None),
        ):
            answer = await api.call(method, f"{PATH}/{test}{path}", sent, key=api.other)
            assert answer.status_code == 404, path
            if method == "POST":
                refused = await api.call(method, f"{PATH}/{test}{path}", sent, key=api.reads)
                assert refused.status_code == 403, path
        assert (await api.call("GET", PATH, key=api.other)).json()["data"] == []


@each_row(
    "fields, field",
    [
        ({"variants": SPRING["variants"][:1]}, "variants"),
        ({"variants": [SPRING["variants"][0], {"name": "B", "share": 40}]}, "share"),
        ({"alpha": 0.6}, "alpha"),
        ({"metric": "replies"}, "metric"),
        ({"html_body": None}, "html"),
        ({"cc": ["bob@example.com"]}, "cc"),
        ({"from_email": "nobody"}, "from_email"),
    ],
)
async def test_what_a_test_may_not_be_is_refused_by_name_over_http(
    api: Wired, fields: dict[str, Any], field: str
) -> None:
    answer = await api.call("POST", PATH, SPRING | fields)
    assert answer.status_code == 422, answer.text
    assert field in answer.text

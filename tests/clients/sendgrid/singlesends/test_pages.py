"""Lists of single sends: a page is read in SQL, and statuses are sought as they are shown."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import many
from tests.clients.resend.test_together import meanwhile
from tests.clients.sendgrid.singlesends.test_single_sends import (
    added,
    api,
    listed,
    read,
    refused,
    whole,
)
from tests.clients.serving import Served

__all__ = ["api"]
DRAFTS = """
INSERT INTO mailqueue.broadcasts (project_id, name, content, summary, created_by, created_at)
SELECT id, 'Draft ' || n, '{"singlesend": {}}', jsonb_build_object('categories', ARRAY['c' || n]),
       'tests', now() + n * interval '1 s'
  FROM mailqueue.projects, generate_series(1, 30) AS n WHERE name = 'default' RETURNING 1
"""


@pytest.mark.parametrize(
    "call",
    [
        lambda api: api.marketing.singlesends.get(query_params={"page_size": 3}),
        lambda api: api.marketing.singlesends.search.post(
            request_body={"status": ["draft"], "name": "draft"}, query_params={"page_size": 3}
        ),
        lambda api: api.marketing.stats.singlesends.get(query_params={"page_size": 3}),
    ],
)
def test_a_page_reads_its_own_single_sends_alone(
    site: Served, api: Any, call: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    site.rows(DRAFTS)
    taken: list[int] = []

    async def counted(*given: Any) -> list[Any]:
        rows = await many(*given)
        taken.append(len(rows))
        return rows

    monkeypatch.setattr("mailqueue.api.compat.broadcasts.store.many", counted)
    page = read(call(api))

    assert (taken, page["_metadata"]["count"]) == ([3], 30)
    assert "next" in page["_metadata"]


def test_categories_are_those_of_the_newest_single_sends(
    site: Served, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.rows(DRAFTS)
    sends = "mailqueue.api.compat.sendgrid.marketing.singlesends.endpoints.MAX_CATEGORIES"
    monkeypatch.setattr(sends, 3)

    assert read(api.marketing.singlesends.categories.get()) == {"categories": ["c28", "c29", "c30"]}


def test_a_page_behind_one_that_is_not_sought_is_refused(api: Any) -> None:
    sends = api.marketing.singlesends
    may, june = (added(api, {"name": name})["id"] for name in ("May", "June"))
    behind = {"page_token": june}

    assert [one["id"] for one in read(sends.get(query_params=behind))["result"]] == [may]
    sought = {"request_body": {"name": "may"}, "query_params": behind}
    assert refused(sends.search.post, **sought) == "page_token"
    sends._(june).delete()
    assert refused(sends.get, query_params=behind) == "page_token"


@pytest.mark.parametrize("plan", ["active", "completed", "cancelled", "failed", "none"])
@pytest.mark.parametrize("run", [None, "pending", "done", "failed"])
@pytest.mark.parametrize("queued", [0, 1])
def test_a_status_is_sought_as_it_is_shown(
    site: Served, api: Any, plan: str, run: str | None, queued: int
) -> None:
    made = added(api, whole(api, listed(api)))
    api.marketing.singlesends._(made["id"]).schedule.put(request_body={"send_at": "now"})
    if plan == "none":
        site.rows("DELETE FROM mailqueue.schedules RETURNING 1")
    elif plan != "active":
        site.rows("UPDATE mailqueue.schedules SET status = %s RETURNING 1", plan)
    if run is not None and plan != "none":
        site.rows(
            "INSERT INTO mailqueue.schedule_runs (project_id, schedule_id, number, status, queued,"
            " occurrence) SELECT project_id, id, 1, %s, %s, now() FROM mailqueue.schedules"
            " RETURNING 1",
            run,
            queued,
        )
        site.rows("UPDATE mailqueue.schedules SET run_count = 1 RETURNING 1")
    shown = read(api.marketing.singlesends._(made["id"]).get())["status"]

    def found(*statuses: str) -> list[str]:
        answer = api.marketing.singlesends.search.post(request_body={"status": list(statuses)})
        return [one["status"] for one in read(answer)["result"]]

    assert found(shown) == [shown]
    assert found(*({"draft", "scheduled", "triggered"} - {shown})) == []


@pytest.mark.deep
def test_several_are_removed_in_the_order_of_their_ids(site: Served, api: Any) -> None:
    first, second = (added(api, {"name": name})["id"] for name in ("May", "June"))
    assert UUID(first) < UUID(second)

    def remove() -> Any:
        return api.marketing.singlesends.delete(query_params={"ids": f"{second},{first}"})

    lock = "SELECT FROM mailqueue.broadcasts WHERE id = '{}' FOR UPDATE NOWAIT"
    answer = meanwhile(site, lock.format(first), remove, lock.format(second))

    assert answer.status_code == 204
    assert read(api.marketing.singlesends.get())["result"] == []

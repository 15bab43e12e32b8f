"""The published `sendgrid` library writes single sends that are changed elsewhere meanwhile."""

import asyncio
from typing import Any

import pytest
from python_http_client.exceptions import BadRequestsError, HTTPError

from mailqueue.api.compat.sendgrid.groups import category_of_group
from mailqueue.api.compat.sendgrid.marketing.singlesends import sending
from tests.clients.resend.test_broadcasts import run
from tests.clients.sendgrid.singlesends.test_single_sends import (
    ANN,
    added,
    api,
    listed,
    read,
    whole,
)
from tests.clients.serving import Served

__all__ = ["api"]


def test_one_whose_schedule_was_cancelled_elsewhere_is_a_draft(site: Served, api: Any) -> None:
    templates = "SELECT count(*) FROM mailqueue.templates WHERE deleted_at IS NULL"
    before = site.rows(templates)
    made = added(api, whole(api, listed(api, "News", {"email": ANN})))
    one = api.marketing.singlesends._(made["id"])
    for last in (lambda: one.patch(request_body={"name": "Again"}), one.delete):
        one.schedule.put(request_body={"send_at": "2035-01-01T00:00:00Z"})
        site.rows("UPDATE mailqueue.schedules SET status = 'cancelled' RETURNING 1")
        assert read(one.get())["status"] == "draft"
        assert last().status_code in (202, 204)
        assert site.rows(templates) == before, "that of its texts is removed"
        site.rows("DELETE FROM mailqueue.schedules RETURNING 1")


def test_a_change_while_another_request_reads_is_not_overwritten(
    site: Served, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = added(api, whole(api, listed(api, "News", {"email": ANN})))
    one = api.marketing.singlesends._(made["id"])

    async def changed_meanwhile(*given: Any, **named: Any) -> str:
        monkeypatch.undo()
        newer = {"email_config": {"subject": "Newer"}}
        answer = await asyncio.to_thread(one.patch, request_body=newer)
        assert answer.status_code == 202
        return await category_of_group(*given, **named)

    monkeypatch.setattr(sending, "category_of_group", changed_meanwhile)
    with pytest.raises(BadRequestsError):
        one.schedule.put(request_body={"send_at": "now"})
    kept = read(one.get())
    assert (kept["status"], kept["email_config"]["subject"]) == ("draft", "Newer")
    assert site.rows("SELECT 1 FROM mailqueue.schedules") == []
    assert one.schedule.put(request_body={"send_at": "now"}).status_code == 201


def test_one_that_was_cancelled_while_it_was_sent_is_not_sent_again(site: Served, api: Any) -> None:
    people = [{"email": f"{number}@example.org"} for number in range(3)]
    made = added(api, whole(api, listed(api, "News", *people)))
    one = api.marketing.singlesends._(made["id"])
    one.schedule.put(request_body={"send_at": "now"})
    run(site, part=2, most=1)
    ((cancelled,),) = site.rows(
        "SELECT x.state FROM mailqueue.schedules AS s,"
        " mailqueue.cancel_schedule(s.project_id, s.id, 'tests') AS x"
    )

    assert (cancelled, read(one.get())["status"]) == ("cancelled", "triggered")
    assert [each["status"] for each in read(api.marketing.singlesends.get())["result"]] == [
        "triggered"
    ]
    for call, body in (
        (one.schedule.put, {"send_at": "now"}),
        (one.patch, {"name": "Again"}),
        (one.delete, None),
    ):
        with pytest.raises(HTTPError) as refusal:
            call(request_body=body)
        assert refusal.value.status_code == 400
    run(site)
    assert len(site.rows("SELECT recipient_email FROM mailqueue.email_queue")) == 2

    site.rows("DELETE FROM mailqueue.schedule_recipients RETURNING 1")
    site.rows("DELETE FROM mailqueue.schedule_runs RETURNING 1")
    assert read(one.get())["status"] == "triggered", "also after retention deleted its run"

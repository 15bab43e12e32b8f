"""Lists of mail: every filter, by pages, of the caller's project only."""

from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.mail.reads import emails
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of

pytestmark = pytest.mark.anyio


async def listed(api: Calling, query: str = "", key: str | None = None) -> list[dict[str, Any]]:
    answer = await api.get(f"/v1/emails?{query}", key=key)
    assert answer.status_code == 200, answer.text
    data: list[dict[str, Any]] = answer.json()["data"]
    return data


async def sent(api: Calling, **changes: Any) -> str:
    answer = await api.send({**HELLO, **changes})
    assert answer.status_code == 202, answer.text
    found: str = answer.json()["id"]
    return found


async def test_pages_give_every_mail_once_the_newest_first(api: Calling) -> None:
    ids = [await sent(api, subject=f"n{number}") for number in range(7)]
    for found in ids[1:4]:
        await api.post(f"/v1/emails/{found}/cancel")

    pages, cursor = list[list[str]](), ""
    for _ in range(4):
        answer = (await api.get(f"/v1/emails?limit=2{cursor}")).json()
        pages.append([one["id"] for one in answer["data"]])
        cursor = f"&cursor={answer['next_cursor']}"
        if answer["next_cursor"] is None:
            break

    assert [found for page in pages for found in page] == ids[::-1]
    assert [len(page) for page in pages] == [2, 2, 2, 1]


async def test_a_search_that_looked_at_enough_has_a_cursor_with_which_it_goes_on(
    api: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = emails.search_page.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "looked", 2)
    wanted = await sent(api, subject="The wanted one")
    for number in range(4):
        await sent(api, subject=f"n{number}")

    pages, cursor = list[list[str]](), ""
    for _ in range(9):
        answer = (await api.get(f"/v1/emails?contains=wanted&limit=1{cursor}")).json()
        pages.append([one["id"] for one in answer["data"]])
        cursor = f"&cursor={answer['next_cursor']}"
        if answer["next_cursor"] is None:
            break

    assert pages == [[], [], [wanted]]


async def test_every_filter_finds_its_mail_finished_or_not(api: Calling) -> None:
    mine = await sent(
        api,
        to=["Bob <Bob@Example.com>"],
        cc=["carol@example.com"],
        tags=["otp"],
        from_email="shop@example.org",
        subject="Invoice 100% ready",
        campaign_id="spring",
        category="system",
        custom_data={"order": 81, "shop": {"id": "s-1"}},
    )
    await sent(api, custom_data={"order": 82})
    filters = (
        "tag=otp",
        "from=Shop@example.org",
        "to=bob@example.com",
        "to=CAROL@example.com",
        "campaign=spring",
        "category=system",
        "contains=VOICE%20100%25",
        "contains=bob@exam",
        "contains=invoice&tag=otp",
        "custom_data=order%3D81",
        "custom_data=order=81",
        "custom_data=%7B%22shop%22:%7B%22id%22:%22s-1%22%7D%7D",
        "tag=otp&campaign=spring&to=bob@example.com",
    )

    for state in ("queued", "cancelled"):
        for query in (*filters, *(f"{one}&status={state}" for one in filters)):
            assert [one["id"] for one in await listed(api, query)] == [mine], (state, query)
        if state == "queued":
            await api.post(f"/v1/emails/{mine}/cancel")
    assert await listed(api, "tag=otp&campaign=autumn") == []
    [found] = await listed(api, "tag=otp")
    assert (found["from_email"], found["subject"]) == ("shop@example.org", "Invoice 100% ready")
    assert found["priority"] == "normal"
    shown = (await api.get(f"/v1/emails/{mine}")).json()
    assert (shown["from_email"], shown["priority"]) == ("shop@example.org", "normal")
    wrong = await api.get("/v1/emails?status=done")
    assert (wrong.status_code, error_of(wrong)["field"]) == (422, "status")
    assert found["reason"] == "by the API"


async def test_mail_is_found_by_the_account_that_tried_it(api: Calling) -> None:
    waiting, tried = await sent(api), await sent(api, to=["bob@example.com"])
    async with connect(api.database) as conn:
        await make.sender_account(conn, name="spare")
        await conn.execute(
            "UPDATE mailqueue.email_queue SET assigned_to ="
            " (SELECT id FROM mailqueue.sender_accounts WHERE name = 'spare') WHERE id = %s",
            (tried,),
        )

    for state in ("queued", "cancelled"):
        assert [one["id"] for one in await listed(api, "sender=spare")] == [tried], state
        assert [one["id"] for one in await listed(api, "sender=spare&to=ann@example.com")] == []
        await api.post(f"/v1/emails/{tried}/cancel")
    assert [one["id"] for one in await listed(api)] == [tried, waiting]
    assert await listed(api, "sender=nobody") == []


async def test_time_bounds_a_list(api: Calling) -> None:
    await sent(api)

    assert len(await listed(api, "since=2020-01-01T00:00:00Z")) == 1
    assert await listed(api, "until=2020-01-01T00:00:00Z") == []
    assert await listed(api, "since=2099-01-01T00:00:00%2B01:00") == []


async def test_a_faulty_filter_is_named(api: Calling) -> None:
    for query, field in [
        ("limit=0", "limit"),
        ("cursor=x", "cursor"),
        ("since=yesterday", "since"),
        ("since=20300501", "since"),
        ("until=0", "until"),
        ("batch=x", "batch"),
        ("order=asc", "order"),
        ("custom_data=order", "custom_data"),
        ("custom_data=%7B%22order%22", "custom_data"),
        ("custom_data=variables%3D1", "custom_data"),
    ]:
        refused = await api.get(f"/v1/emails?{query}")

        assert (refused.status_code, error_of(refused)["field"]) == (422, field)


async def test_another_projects_mail_is_in_no_list(api: Calling) -> None:
    await sent(api)
    async with connect(api.database) as conn:
        await make.project(conn, "other")
        other = (await issue_key(conn, "other", "web", is_test=False)).key.reveal()

    assert await listed(api, key=other) == []
    assert await listed(api, "to=ann@example.com", key=other) == []
    assert len(await listed(api)) == 1


async def test_a_page_costs_no_more_behind_a_hundred_thousand_mails_of_others(
    api: Calling,
) -> None:
    """The newest mail of a small project is found by an index, without reading other projects'
    mail.
    """
    async with connect(api.database) as conn:
        small = await make.project(conn, "small")
        plan = await make.rows(
            conn,
            "EXPLAIN SELECT h.id FROM mailqueue.email_history AS h"
            f" WHERE h.project_id = '{small}' ORDER BY h.id DESC LIMIT 50",
        )

    assert any("project_id_id_idx" in row[0] for row in plan), plan

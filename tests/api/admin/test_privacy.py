"""A person's data by the API: exported and erased, within the caller's project only."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.recipient_links import Leaving, leaving

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        yield made


async def asked(shop: Leaving, method: str, path: str, status: int = 200) -> dict[str, Any]:
    answer = await shop.http.request(
        method, f"/v1/suppressions/{path}", headers={"X-API-Key": shop.key}
    )
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_person_is_erased_by_address(shop: Leaving) -> None:
    mail = await shop.mail("eva@example.com", subject="Your illness")

    found = await asked(shop, "DELETE", "eva@example.com/erase")

    assert found["state"] == "done"
    assert found["rows"]["mails"] == 1
    again = await asked(shop, "GET", f"{found['email_hash']}/erase")
    assert again == found
    left = await make.rows(
        shop.conn,
        "SELECT h.recipient_email, h.status, c.subject FROM mailqueue.email_history AS h"
        " JOIN mailqueue.email_contents AS c ON c.id = h.content_id WHERE h.id = %s",
        mail,
    )
    assert left == [("erased@erased.invalid", "cancelled", "erased")]


async def test_a_person_who_was_never_suppressed_is_found_by_hash(shop: Leaving) -> None:
    await shop.mail("Flo@Example.com")
    check = await asked(shop, "GET", "check?email=flo@example.com")

    found = await asked(shop, "DELETE", f"{check['email_hash']}/erase?suppress=true")

    assert (found["state"], found["email_hash"]) == ("done", check["email_hash"])
    assert not await shop.gets("flo@example.com", "transactional")
    shown = await asked(shop, "GET", f"{check['email_hash']}")
    assert shown["email"] is None
    assert [one["reason"] for one in shown["suppressions"]] == ["manual"]
    await asked(shop, "DELETE", f"{check['email_hash']}/erase", status=404)
    await asked(shop, "DELETE", "nonsense/erase", status=422)


async def test_another_projects_mail_stays_and_is_not_told(shop: Leaving) -> None:
    other = await make.project(shop.conn, "elsewhere")
    await make.sender_account(shop.conn, project_id=other)
    await make.queued_email(shop.conn, project="elsewhere", recipient_email="gus@example.com")
    await shop.mail("gus@example.com", subject="From the shop")

    told = await asked(shop, "GET", "gus@example.com/export")
    await asked(shop, "DELETE", "gus@example.com/erase")

    assert [one["content"]["subject"] for one in told["mails"]] == ["From the shop"]
    assert str(other) not in json.dumps(told)
    left = await make.rows(
        shop.conn,
        "SELECT recipient_email FROM mailqueue.email_queue WHERE project_id = %s",
        other,
    )
    assert left == [("gus@example.com",)]


async def test_an_erased_persons_links_open_a_friendly_page(shop: Leaving) -> None:
    link = await shop.link_to("hal@example.com")

    await asked(shop, "DELETE", "hal@example.com/erase")

    assert (await shop.http.get(link)).status_code == 404


async def test_history_says_by_which_mail_and_who_ended_it(shop: Leaving) -> None:
    mail = await shop.mail("ida@example.com")
    await shop.conn.execute(
        "SELECT mailqueue.record_bounce(%s, 'ida@example.com', 'hard', 'no such user', '5.1.1',"
        " NULL, NULL, %s)",
        (shop.project_id, mail),
    )
    before = await asked(shop, "GET", "ida@example.com")
    (one,) = before["suppressions"]
    assert (one["reason"], one["email_id"], one["source"]) == ("hard_bounce", str(mail), "bounce")

    await asked(shop, "DELETE", "ida@example.com?why=she%20called")

    after = await asked(shop, "GET", f"{before['email_hash']}")
    assert after["suppressions"] == []
    (past,) = after["history"]
    assert (past["reason"], past["email_id"]) == ("hard_bounce", str(mail))
    assert (past["ended_by"], past["ended_why"]) == ("key all", "she called")


async def test_categories_are_kept_by_their_project(shop: Leaving) -> None:
    headers = {"X-API-Key": shop.key}
    body = {"slug": "tips", "name": "Tips", "translations": {"de": {"name": "Tipps"}}}
    made = await shop.http.post("/v1/categories", json=body, headers=headers)
    again = await shop.http.post("/v1/categories", json=body, headers=headers)
    changed = await shop.http.put("/v1/categories/tips", json={"place": 3}, headers=headers)
    bad = await shop.http.put(
        "/v1/categories/tips", json={"translations": {"<b>": {"name": "x"}}}, headers=headers
    )
    listed = await shop.http.get("/v1/categories", headers=headers)
    gone = await shop.http.delete("/v1/categories/tips", headers=headers)
    left = await shop.http.get("/v1/categories/tips", headers=headers)

    assert [one.status_code for one in (made, again, changed, bad, gone, left)] == [
        201,
        409,
        200,
        422,
        204,
        404,
    ]
    (one,) = listed.json()["data"]
    assert (one["slug"], one["place"], one["translations"]["de"]["name"]) == ("tips", 3, "Tipps")
    odd = {"slug": "system", "name": "x", "is_required": False}
    assert (await shop.http.post("/v1/categories", json=odd, headers=headers)).status_code == 422

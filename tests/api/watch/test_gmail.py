"""An inbox at Gmail is connected by its owner's consent, once, and disconnected with it."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from structlog.testing import capture_logs

from mailqueue.api.public.wording import WORDS
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply
from tests.api.support.calling import calling, error_of
from tests.api.support.wired import MASTER
from tests.api.watch.consenting import BACK, GMAIL, INBOXES, PUBLIC, USERS, Site
from tests.rows import each_row
from tests.watch.fake_gmail import ADDRESS, CLIENT_SECRET

pytestmark = pytest.mark.anyio


async def test_the_owner_s_consent_connects_the_inbox(site: Site) -> None:
    begun = await site.begun(folders=["INBOX", "Label_1"])
    asked = dict(parse_qsl(urlsplit(begun.json()["consent_url"]).query))
    assert asked["redirect_uri"] == PUBLIC + BACK
    assert asked["scope"] == "https://www.googleapis.com/auth/gmail.readonly"
    assert asked["login_hint"] == "Ann@Example.com"

    given = site.google.consent(begun.json()["consent_url"])
    assert await site.back(given) == f"{BACK}/connected"

    [inbox] = await site.listed()
    assert (inbox["provider"], inbox["email_address"], inbox["status"], inbox["folders"]) == (
        "gmail",
        "ann@example.com",
        "active",
        ["INBOX", "Label_1"],
    )
    assert "rfc822msgid" in inbox["webmail_url"]
    for tag, words in WORDS.items():
        shown = await site.api.http.get(f"{BACK}/connected", params={"lang": tag})
        assert words["inbox_connected_title"] in shown.text
    assert (await site.api.http.get(f"{BACK}/else")).status_code == 404


async def test_a_state_works_once_and_a_strange_one_never(site: Site) -> None:
    given = await site.consented()
    for state in ("", "x" * 43, given["state"][:-1], "x" * 1000):
        wrong = await site.api.http.get(BACK, params={**given, "state": state})
        assert wrong.status_code == 404
    assert (await site.api.http.head(BACK, params=given)).status_code == 405
    assert await site.back(given) == f"{BACK}/connected"
    again = await site.api.http.get(BACK, params=given)
    assert again.status_code == 404
    assert len(await site.listed()) == 1


async def test_a_code_that_was_used_connects_nothing(site: Site) -> None:
    used = await site.consented()
    await site.back(used)
    other = await site.consented()
    assert await site.back({**other, "code": used["code"]}) == f"{BACK}/refused"
    assert await site.back({**await site.consented(), "code": ""}) == f"{BACK}/refused"


async def test_a_code_of_another_consent_is_refused_by_its_challenge(site: Site) -> None:
    first, second = await site.consented(), await site.consented()
    assert await site.back({**first, "code": second["code"]}) == f"{BACK}/refused"
    assert await site.listed() == []


async def test_a_state_ends_after_ten_minutes(site: Site) -> None:
    given = await site.consented()
    async with connect(site.api.database) as conn:
        left = (
            "SELECT extract(epoch FROM expires_at - now())::integer FROM mailqueue.inbox_consents"
        )
        assert 500 < await make.scalar(conn, left) <= 600
        await conn.execute("UPDATE mailqueue.inbox_consents SET expires_at = now()")
    assert (await site.api.http.get(BACK, params=given)).status_code == 404
    assert await site.listed() == []


async def test_a_refusal_another_account_and_a_lesser_consent_connect_nothing(site: Site) -> None:
    refused = await site.consented()
    del refused["code"]
    assert await site.back({**refused, "error": "access_denied"}) == f"{BACK}/refused"
    site.google.address = "eve@example.com"
    assert await site.back(await site.consented()) == f"{BACK}/refused"
    site.google.address = ADDRESS
    site.google.scope = "openid"
    assert await site.back(await site.consented()) == f"{BACK}/refused"
    assert await site.listed() == []


async def test_an_answer_of_google_that_never_comes_connects_nothing(site: Site) -> None:
    site.google.script["/token"] = [FakeReply(503, b"busy"), FakeReply(200, b"[]")]
    for _ in range(2):
        assert await site.back(await site.consented()) == f"{BACK}/refused"
    shown = await site.api.http.get(f"{BACK}/refused")
    assert "not connected" in shown.text


async def test_secrets_are_neither_stored_plainly_nor_shown_nor_logged(site: Site) -> None:
    with capture_logs() as logs:
        given = await site.consented()
        await site.back(given)
        await site.back({**await site.consented(), "code": "4/wrong"})
    [inbox] = await site.listed()
    issued = {token for token in site.google.refresh_tokens if token != "refresh-0"}
    assert len(issued) == 1
    async with connect(site.api.database) as conn:
        tables = "SELECT m::text FROM mailqueue.mailboxes AS m"
        stored = str(await make.rows(conn, tables))
        stored += str(await make.rows(conn, "SELECT c::text FROM mailqueue.inbox_consents AS c"))
        stored += str(await make.rows(conn, "SELECT a::text FROM mailqueue.audit_events AS a"))
    for secret in (*issued, given["state"], given["code"], CLIENT_SECRET, "4/wrong"):
        assert secret not in stored + str(inbox) + str(logs)


async def test_a_second_consent_reconnects_the_inbox(site: Site) -> None:
    await site.back(await site.consented())
    [inbox] = await site.listed()
    async with connect(site.api.database) as conn:
        await conn.execute("UPDATE mailqueue.mailboxes SET status = 'failed', finished_at = now()")
    one = f"{INBOXES}/{inbox['id']}"
    assert (await site.api.get(one)).json()["status"] == "error"
    by_password = await site.api.post(f"{one}/reconnect", {"password": "x"})
    assert by_password.status_code == 409

    assert await site.back(await site.consented()) == f"{BACK}/connected"

    [again] = await site.listed()
    assert (again["id"], again["status"]) == (inbox["id"], "active")
    assert site.google.revoked == []


async def test_removing_the_inbox_or_its_person_revokes_the_consent(site: Site) -> None:
    await site.back(await site.consented())
    [inbox] = await site.listed()
    assert (await site.api.delete(f"{INBOXES}/{inbox['id']}")).status_code == 204
    assert len(site.google.revoked) == 1
    assert await site.listed() == []

    await site.back(await site.consented())
    assert (await site.api.delete(f"{USERS}/{site.owner}")).status_code == 204
    assert len(site.google.revoked) == 2
    assert site.google.refresh_tokens == {"refresh-0"}


async def test_an_inbox_that_another_project_watches_keeps_its_consent(site: Site) -> None:
    await site.back(await site.consented())
    async with connect(site.api.database) as conn:
        await make.project(conn, "news")
        issued = await issue_key(conn, "news", "tests", is_test=False)
    key = issued.key.reveal()
    other = (await site.api.post(USERS, {"email": "ann@example.com"}, key=key)).json()["id"]
    body = {"user_id": other, "email_address": ADDRESS}
    begun = await site.api.post(GMAIL, body, key=key)
    await site.back(site.google.consent(begun.json()["consent_url"]))

    [inbox] = await site.listed()
    strange = await site.api.delete(f"{INBOXES}/{inbox['id']}", key=key)
    assert strange.status_code == 404
    assert site.google.revoked == []
    assert (await site.api.delete(f"{INBOXES}/{inbox['id']}")).status_code == 204
    assert site.google.revoked == [], "the other project still watches it"
    assert (await site.api.delete(f"{USERS}/{other}", key=key)).status_code == 204
    assert len(site.google.revoked) == 1


async def test_google_that_does_not_answer_keeps_no_token_here(site: Site) -> None:
    await site.back(await site.consented())
    [inbox] = await site.listed()
    site.google.script["/revoke"] = [FakeReply(503, b"")]
    assert (await site.api.delete(f"{INBOXES}/{inbox['id']}")).status_code == 204
    async with connect(site.api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.mailboxes") == 0


@each_row(
    "fields, name",
    [
        ({"folders": ["Spam"]}, "folders"),
        ({"folders": ["SENT"]}, "folders"),
        ({"folders": ["My label"]}, "folders"),
        ({"email_address": "no address"}, "email_address"),
        ({"user_id": "0197b8f0-0000-7000-8000-0000000000c1"}, "user_id"),
        ({"webmail_url": "http://example.com"}, "webmail_url"),
    ],
)
async def test_invalid_fields_are_named(site: Site, fields: dict[str, Any], name: str) -> None:
    answer = await site.begun(**fields)
    assert answer.status_code == 422
    assert name in error_of(answer)["message"]


async def test_consents_that_wait_are_bounded_for_each_person(site: Site) -> None:
    for _ in range(20):
        assert (await site.begun()).status_code == 201
    assert (await site.begun()).status_code == 422
    async with connect(site.api.database) as conn:
        await conn.execute("UPDATE mailqueue.inbox_consents SET expires_at = now()")
    assert (await site.begun()).status_code == 201
    async with connect(site.api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.inbox_consents") == 1


async def test_an_inbox_by_imap_is_not_replaced(site: Site) -> None:
    inbox = {"email_address": ADDRESS, "host": "imap.example.com", "password": "x"}
    given = await site.consented()
    await site.api.post(INBOXES, {"user_id": site.owner, **inbox})
    assert (await site.begun()).status_code == 422
    assert await site.back(given) == f"{BACK}/refused"
    assert [one["provider"] for one in await site.listed()] == ["imap"]


async def test_without_a_client_at_google_nothing_can_be_connected(
    database: DatabaseSettings,
) -> None:
    async with calling(database, master_key=Secret(MASTER), public_url=PUBLIC) as api:
        owner = (await api.post(USERS, {"email": "ann@example.com"})).json()["id"]
        answer = await api.post(GMAIL, {"user_id": owner, "email_address": ADDRESS})
        assert answer.status_code == 409
        assert "MAILQUEUE_GMAIL_CLIENT_ID" in answer.text
        assert (await api.http.get(BACK, params={"state": "x"})).status_code == 404

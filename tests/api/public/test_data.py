"""A person asks for what is stored about them, and gets it by a link that goes to the address."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import partial
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from mailqueue.analytics.exports.handler import PART_CHARACTERS, ExportHandler
from mailqueue.api.public.wording import WORDS
from mailqueue.core.secret import Secret
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.collecting import collect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.tokens import TokenKind
from tests import make
from tests.api.support.recipient_links import Leaving, leaving
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio

ASKED = {"action": "data"}
DOWNLOAD = {"action": "download"}


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        yield made


def someone() -> str:
    return f"{uuid4().hex[:12]}@example.com"


async def worked(shop: Leaving) -> int:
    handler = ExportHandler(shop.database, partial(collect, shop.database), page_rows=2)
    return await work_once(shop.database, "exports", handler)


async def sent_link(shop: Leaving, who: str) -> str:
    """Return the link in the only mail with a link to the data of a person."""
    query = (
        "SELECT q.id FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c"
        " ON c.id = q.content_id AND c.created_on = q.content_on"
        " WHERE q.recipient_email = %s AND c.html_body LIKE '%%{{ data_url }}%%'"
        " AND c.text_body LIKE '%%{{ data_url }}%%'"
    )
    ((mail,),) = await make.rows(shop.conn, query, who)
    return await shop.link(mail, TokenKind.DATA)


async def asked(shop: Leaving, who: str) -> str:
    """Ask for the data of a person; return the link that is sent."""
    page = await shop.http.post(await shop.preferences_of(who), data=ASKED)
    assert "The link is on its way" in page.text
    return await sent_link(shop, who)


async def test_the_link_goes_to_the_address_and_leads_to_all_that_is_stored(
    shop: Leaving,
) -> None:
    ann, ben = someone(), someone()
    await shop.mail(ann, subject="For Ann")
    await shop.mail(ben, subject="For Ben")
    offered = await shop.http.get(await shop.preferences_of(ann))
    link = await asked(shop, ann)
    waiting = await shop.http.get(link)
    early = await shop.http.post(link, data=DOWNLOAD)
    assert await worked(shop) == 1
    ready = [await shop.http.get(link), await shop.http.head(link)]
    other = await shop.http.post(link, data={"List-Unsubscribe": "One-Click"})
    file = await shop.http.post(link, data=DOWNLOAD)
    rows = json.loads(file.content)

    assert "Send me my data" in offered.text
    assert ("being collected" in waiting.text, "Look again" in waiting.text) == (True, True)
    assert "being collected" in early.text
    assert [one.status_code for one in ready] == [200, 200]
    assert ("Download" in ready[0].text, "Look again" in ready[0].text) == (True, False)
    assert "Download" in other.text
    assert file.headers["content-type"] == "application/json"
    assert file.headers["content-disposition"].startswith("attachment; ")
    subjects = {row["record"]["content"]["subject"] for row in rows if row["table"] == "mails"}
    assert subjects == {"For Ann", "Hello", "Your data at The Shop & Co"}
    assert ben not in file.text
    audited = await make.rows(
        shop.conn,
        "SELECT action, actor FROM mailqueue.audit_events WHERE subject = 'export ' || (SELECT id"
        " FROM mailqueue.exports WHERE filter ->> 'email' = %s)::text ORDER BY id",
        ann,
    )
    assert [row[0] for row in audited] == ["export.begun", "export.ended", "export.fetched"]
    assert "recipient" in audited[2][1]


async def test_what_only_mentions_a_person_stays_with_those_whom_it_is_about(shop: Leaving) -> None:
    ann, ben = someone(), someone()
    await shop.mail(ben, html_body=f"<p>{ann} invites you: https://example.com/join/SECRET</p>")
    for email, why in ((ben, f"the same person as {ann}"), (ann, "asked by phone")):
        asking = {"email": email, "category": "marketing", "detail": why}
        answer = await shop.http.post(
            "/v1/suppressions", json=asking, headers={"X-API-Key": shop.key}
        )
        assert answer.status_code == 200, answer.text
    link = await asked(shop, ann)
    await worked(shop)
    file = await shop.http.post(link, data=DOWNLOAD)

    assert "asked by phone" in file.text
    assert [text for text in (ben, "SECRET", "the same person") if text in file.text] == []


async def test_a_mail_to_several_names_no_other_recipient_to_each_of_them(shop: Leaving) -> None:
    ann, ben, eve = someone(), someone(), someone()
    message = {"to": ann, "cc": [ben], "bcc": [eve], "subject": "To us", "text": "Hello"}
    sent = await shop.http.post("/v1/send", json=message, headers={"X-API-Key": shop.key})
    assert sent.status_code == 202, sent.text
    named = {}
    for who in (ann, ben, eve):
        link = await asked(shop, who)
        await worked(shop)
        text = (await shop.http.post(link, data=DOWNLOAD)).text
        assert "To us" in text
        named[who] = [one for one in (ann, ben, eve) if one in text]

    assert named == {who: [who] for who in (ann, ben, eve)}


async def test_a_second_request_within_a_day_sends_nothing(shop: Leaving) -> None:
    who = someone()
    await asked(shop, who)
    again = await shop.http.post(await shop.preferences_of(who.upper()), data=ASKED)
    sent = await sent_link(shop, who)
    await shop.conn.execute(
        "UPDATE mailqueue.exports SET id = mailqueue.first_uuid(now() - interval '25 h')"
        " WHERE filter ->> 'email' = %s",
        (who,),
    )
    later = await shop.http.post(await shop.preferences_of(who), data=ASKED)

    assert "within the last day" in again.text
    assert sent
    assert "on its way" in later.text


@pytest.mark.parametrize("kind", [TokenKind.DATA, TokenKind.PREFERENCES, TokenKind.CONFIRM])
async def test_a_link_of_any_other_mail_leads_to_no_data(shop: Leaving, kind: TokenKind) -> None:
    who = someone()
    link = await asked(shop, who)
    await worked(shop)
    newsletter = await shop.mail(who, html_body='<a href="{{ data_url }}">mine</a>')
    token = (await shop.link(newsletter, kind)).rpartition("/")[2]
    seen = await shop.http.get(f"/data/{token}")
    taken = await shop.http.post(f"/data/{token}", data=DOWNLOAD)
    cut = await shop.http.get(link[:-1])

    assert [one.status_code for one in (seen, taken, cut)] == [404, 404, 404]
    assert "no longer works" in seen.text


async def test_a_link_of_test_mail_offers_and_sends_nothing(shop: Leaving) -> None:
    who = someone()
    query = "SELECT mailqueue.enqueue('shop', %s, 's', NULL, 't', '{\"is_test\": true}')"
    mail = await make.scalar(shop.conn, query, who)
    link = await shop.link(mail, TokenKind.PREFERENCES)
    page = await shop.http.get(link)
    answer = await shop.http.post(link, data=ASKED)
    count = "SELECT count(*) FROM mailqueue.exports WHERE filter ->> 'email' = %s"

    assert (page.status_code, answer.status_code) == (200, 200)
    assert "Send me my data" not in page.text
    assert "on its way" not in answer.text
    assert await make.scalar(shop.conn, count, who) == 0


async def test_what_was_collected_before_an_erasure_is_not_written(shop: Leaving) -> None:
    ann, ben = someone(), someone()
    link = await asked(shop, ann)
    calls, erased = 0, list[str]()

    async def erased_meanwhile(
        project_id: UUID, project: str, address: str
    ) -> AsyncGenerator[Sequence[str]]:
        nonlocal calls
        calls += address == ann
        async for lines in collect(shop.database, project_id, project, address):
            yield lines
            if address == ann and calls == 1 and not erased:
                erased.append(ben)
                await shop.conn.execute(
                    "SELECT mailqueue.begin_erasure(%s, %s, false, 'tests')", (project_id, erased)
                )

    handler = ExportHandler(shop.database, erased_meanwhile)
    await work_once(shop.database, "exports", handler)
    file = await shop.http.post(link, data=DOWNLOAD)

    rows = json.loads(file.content)
    emails = [row["record"]["id"] for row in rows if row["table"] == "mails"]
    assert calls == 2
    assert len(emails) == len(set(emails)) == 2


async def test_parts_of_a_claim_that_ended_are_collected_again(shop: Leaving) -> None:
    ann = someone()
    await shop.mail(ann, subject="The first")
    link = await asked(shop, ann)

    async def ends(project_id: UUID, project: str, address: str) -> AsyncGenerator[Sequence[str]]:
        async for lines in collect(shop.database, project_id, project, address):
            yield lines
            raise RuntimeError("the process ends")

    await work_once(shop.database, "exports", ExportHandler(shop.database, ends))
    parts = "SELECT parts FROM mailqueue.exports WHERE filter ->> 'email' = %s"
    before = await make.scalar(shop.conn, parts, ann)
    await shop.conn.execute(
        "UPDATE mailqueue.exports SET run_at = now() WHERE filter ->> 'email' = %s", (ann,)
    )
    await worked(shop)
    rows = json.loads((await shop.http.post(link, data=DOWNLOAD)).content)
    emails = [row["record"]["id"] for row in rows if row["table"] == "mails"]

    assert before == 1
    assert len(emails) == len(set(emails)) == 3


@pytest.mark.parametrize("reason", ["hard_bounce", "complaint", "manual"])
async def test_an_address_that_gets_no_mail_is_promised_none(shop: Leaving, reason: str) -> None:
    who = someone()
    link = await shop.preferences_of(who)
    stop = {"email": who, "reason": reason}
    await shop.http.post("/v1/suppressions", json=stop, headers={"X-API-Key": shop.key})
    page = await shop.http.post(link, data=ASKED)
    count = "SELECT count(*) FROM mailqueue.exports WHERE filter ->> 'email' = %s"

    assert page.status_code == 200
    assert "on its way" not in page.text
    assert "could not be collected" in page.text
    assert await make.scalar(shop.conn, count, who) == 0


async def test_who_left_all_categories_gets_the_link(shop: Leaving) -> None:
    who = someone()
    link = await shop.preferences_of(who)
    await shop.http.post(link, data={"action": "leave"})
    page = await shop.http.post(link, data=ASKED)

    assert "on its way" in page.text
    assert await sent_link(shop, who)


async def test_large_mail_of_a_person_is_written_in_several_parts(shop: Leaving) -> None:
    who = someone()
    for _ in range(3):
        await shop.mail(who, html_body=f"<p>{'x' * PART_CHARACTERS}</p>")
    link = await asked(shop, who)
    handler = ExportHandler(shop.database, partial(collect, shop.database))
    await work_once(shop.database, "exports", handler)
    query = (
        "SELECT p.rows FROM mailqueue.export_parts AS p JOIN mailqueue.exports AS x"
        " ON x.id = p.export_id WHERE x.filter ->> 'email' = %s ORDER BY p.number"
    )
    parts = [rows for (rows,) in await make.rows(shop.conn, query, who)]
    file = await shop.http.post(link, data=DOWNLOAD)

    assert parts[:3] == [1, 1, 1]
    assert len(json.loads(file.content)) == sum(parts)


async def test_the_file_of_an_erased_person_is_not_written(shop: Leaving) -> None:
    who = someone()
    link = await asked(shop, who)
    lend = persons.lending(shop.conn)
    erasure = await erasing.begin(lend, shop.project_id, persons.spellings_of(who), by="tests")
    assert (await erasing.go_on(lend, erasure, by="tests")).is_done
    await worked(shop)
    files = await make.scalar(shop.conn, "SELECT count(*) FROM mailqueue.export_parts")
    page = await shop.http.get(link)

    assert (page.status_code, "no longer works" in page.text) == (404, True)
    assert files == 0


@pytest.mark.parametrize("path", ["/data", "/confirm", "/exports", "/pref", "/t/u"])
async def test_no_token_of_a_link_stands_in_the_log(shop: Leaving, path: str) -> None:
    token = f"{uuid4().hex}{uuid4().hex}"
    with capture_logs() as lines:
        answer = await shop.http.get(f"{path}/{token}")

    assert answer.status_code == 404
    assert [line["path"] for line in lines if line["event"] == "request.answered"] == [f"{path}/…"]
    assert token not in str(lines)


@pytest.mark.parametrize("language", sorted(WORDS))
async def test_page_and_mail_are_in_the_language_that_was_chosen(
    shop: Leaving, language: str
) -> None:
    who = someone()
    link = await shop.preferences_of(who)
    page = await shop.http.post(f"{link}?lang={language}", data=ASKED)
    data = await shop.http.get(f"{await sent_link(shop, who)}?lang={language}")
    query = (
        "SELECT c.html_body FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c"
        " ON c.id = q.content_id AND c.created_on = q.content_on"
        " WHERE q.recipient_email = %s AND c.html_body LIKE '%%data_url%%'"
    )

    assert WORDS[language]["data_sent"].partition("{")[0] in page.text
    assert WORDS[language]["data_waiting"] in data.text
    assert f'lang="{language}"' in await make.scalar(shop.conn, query, who)

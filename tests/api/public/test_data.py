"""A person asks for what is stored about them, and gets it by a link that goes to the address."""

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from mailqueue.api.public.wording import WORDS
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.tokens import TokenKind
from tests import make
from tests.api.support.own_data import ASKED, DOWNLOAD, asked, sent_link, someone, worked
from tests.api.support.recipient_links import Leaving, leaving

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        yield made


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

"""The unsubscribe button of mail programs, and the page behind the link."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from mailqueue.api.public.recipient_page import Visit
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.tokens import Token, TokenKind
from tests import make
from tests.api.support.recipient_links import ONE_CLICK, Leaving, leaving
from tests.hops import hops

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        await made.category("news", translations={"de": {"name": "Neues"}})
        await made.category("receipts", is_required=True)
        yield made


def somebody() -> str:
    return f"{uuid4().hex[:12]}@example.com"


@pytest.mark.parametrize("as_multipart", [False, True])
async def test_the_button_of_a_mail_program_stops_that_mail_at_once(
    shop: Leaving, as_multipart: bool
) -> None:
    """RFC 8058 3.1: both content types, no cookie, no further step, no redirect."""
    who = somebody()
    link = await shop.link_to(who)
    if as_multipart:
        answer = await shop.http.post(link, files={"List-Unsubscribe": (None, "One-Click")})
    else:
        answer = await shop.http.post(link, data=ONE_CLICK)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == "You are unsubscribed\n"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not await shop.gets(who, "marketing")
    assert await shop.gets(who, "transactional")
    assert await shop.gets(who, "news")


async def test_asking_twice_is_asking_once(shop: Leaving) -> None:
    who = somebody()
    link = await shop.link_to(who, "news")
    answers = [await shop.http.post(link, data=ONE_CLICK) for _ in range(2)]
    before = await shop.state()

    again = await shop.http.post(link, data=ONE_CLICK)

    assert [one.status_code for one in (*answers, again)] == [200] * 3
    assert await shop.state() == before


async def test_it_is_on_record_with_time_way_mail_and_program(shop: Leaving) -> None:
    who = somebody()
    mail = await shop.mail(who, "news", campaign_id="spring")

    await shop.http.post(
        await shop.link(mail), data=ONE_CLICK, headers={"User-Agent": "Mailer\x7f 1.0"}
    )

    (found,) = await make.rows(
        shop.conn,
        "SELECT category, source, email_id, user_agent, campaign_id, unsubscribed_at <= now()"
        " FROM mailqueue.unsubscribe_list WHERE email = %s",
        who,
    )
    assert found == ("news", "one-click", mail, "Mailer 1.0", "spring", True)
    (event,) = await make.rows(
        shop.conn,
        "SELECT type, recipient_email, data FROM mailqueue.email_events WHERE email_id = %s",
        mail,
    )
    assert event == ("unsubscribed", who, {"by": "one-click", "categories": ["news"]})


@pytest.mark.parametrize("header", ["DNT", "Sec-GPC"])
async def test_who_asks_not_to_be_known_is_not(shop: Leaving, header: str) -> None:
    who = somebody()

    await shop.http.post(
        await shop.link_to(who), data=ONE_CLICK, headers={header: "1", "User-Agent": "Mailer"}
    )

    kept = await make.rows(
        shop.conn,
        "SELECT user_agent, ip_address FROM mailqueue.unsubscribe_list WHERE email = %s",
        who,
    )
    assert kept == [(None, None)]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("kind", [TokenKind.UNSUBSCRIBE, TokenKind.PREFERENCES])
async def test_to_look_changes_nothing(shop: Leaving, method: str, kind: TokenKind) -> None:
    """Programs that scan mail follow every link in it."""
    link = await shop.link(await shop.mail(somebody(), "news"), kind)
    before = await shop.state()

    answer = await shop.http.request(
        method, link + "?List-Unsubscribe=One-Click&action=unsubscribe&scope=all&action=leave"
    )

    assert answer.status_code == 200
    assert bool(answer.content) == (method == "GET")
    assert await shop.state() == before


async def test_the_page_asks_from_what_and_does_it(shop: Leaving) -> None:
    who = somebody()
    link = await shop.link_to(who, "news")
    page = (await shop.http.get(link)).text

    assert 'value="category" checked' in page
    assert "The Shop &amp; Co" in page
    assert who not in page
    answer = await shop.http.post(link, data={"action": "unsubscribe", "scope": "category"})

    assert (answer.status_code, 'role="status"' in answer.text) == (200, True)
    assert [await shop.gets(who, one) for one in ("news", "marketing")] == [False, True]


@pytest.mark.parametrize("action", ["unsubscribe", "subscribe"])
async def test_what_is_read_before_the_change_is_the_page_after_it(
    shop: Leaving, action: str
) -> None:
    link = await shop.link_to(somebody(), "news")
    assert (await shop.http.get(link)).status_code == 200

    with hops() as entered:
        answer = await shop.http.post(link, data={"action": action, "scope": "category"})

    assert (answer.status_code, 'role="status"' in answer.text) == (200, True)
    assert entered.times(Visit.connection) == 1


async def test_unsubscribing_from_all_spares_required_mail(shop: Leaving) -> None:
    """Not mail that answers an action of the person, and not what the project marks as required."""
    who = somebody()

    await shop.http.post(
        await shop.link_to(who, "news"), data={"action": "unsubscribe", "scope": "all"}
    )

    names = ("news", "marketing", "receipts", "transactional", "system", "password-reset")
    got = {name: await shop.gets(who, name) for name in names}
    assert got == {name: name not in ("news", "marketing") for name in names}
    await shop.category("later")
    assert not await shop.gets(who, "later")


@pytest.mark.parametrize("category", ["transactional", "system", "receipts"])
async def test_a_link_in_mail_that_is_needed_stops_marketing_only(
    shop: Leaving, category: str
) -> None:
    who = somebody()

    answer = await shop.http.post(await shop.link_to(who, category), data=ONE_CLICK)

    assert answer.status_code == 200
    assert await shop.gets(who, category)
    assert not await shop.gets(who, "marketing")


async def test_queued_mail_is_not_sent_either(shop: Leaving) -> None:
    who = somebody()
    mail = await shop.mail(who, "newsletter")

    await shop.http.post(await shop.link(mail), data=ONE_CLICK)

    later = await shop.mail(who, "newsletter")
    status = "SELECT status FROM mailqueue.emails WHERE id = %s"
    assert await make.scalar(shop.conn, status, later) == "suppressed"
    assert not await shop.gets(who, "newsletter")


async def test_a_mistake_is_undone_on_the_page_and_kept_in_the_history(shop: Leaving) -> None:
    who = somebody()
    link = await shop.link_to(who, "news")
    await shop.http.post(link, data={"action": "unsubscribe", "scope": "all"})

    answer = await shop.http.post(link, data={"action": "subscribe"})

    assert answer.status_code == 200
    assert [await shop.gets(who, one) for one in ("news", "marketing")] == [True, True]
    ended = await make.rows(
        shop.conn,
        "SELECT category, reason, ended_by, ended_why FROM mailqueue.suppression_history"
        " WHERE address = %s ORDER BY category",
        who,
    )
    assert ended == [
        (one, "unsubscribed", "recipient", "subscribed again") for one in ("*", "news")
    ]


async def test_a_bounced_recipient_cannot_subscribe_again_by_a_click(shop: Leaving) -> None:
    who = somebody()
    link = await shop.link_to(who, "news")
    await shop.conn.execute(
        "SELECT mailqueue.record_bounce(%s, %s, 'hard', 'no', '5.1.1', NULL, NULL)",
        (shop.project_id, who),
    )

    await shop.http.post(link, data={"action": "subscribe"})

    assert not await shop.gets(who, "news")


async def test_a_body_that_asks_for_nothing_does_nothing(shop: Leaving) -> None:
    link = await shop.link_to(somebody(), "news")
    before = await shop.state()

    for body in ({"List-Unsubscribe": "Two-Clicks"}, {"action": "delete"}, {}):
        answer = await shop.http.post(link, data=body)
        assert answer.status_code == 400

    assert await shop.state() == before


async def test_a_body_without_a_type_is_read_as_the_usual_form(shop: Leaving) -> None:
    who = somebody()

    await shop.http.post(await shop.link_to(who), content=b"List-Unsubscribe=One-Click")

    assert not await shop.gets(who, "marketing")


async def test_a_body_that_is_too_large_is_refused(shop: Leaving) -> None:
    answer = await shop.http.post(
        await shop.link_to(somebody()), data={"List-Unsubscribe": "x" * 100_000}
    )

    assert answer.status_code == 413


async def test_what_opens_nothing_is_a_friendly_page(shop: Leaving) -> None:
    mail = await shop.mail(somebody(), "news")
    good = await shop.link(mail)
    gone = await shop.link(uuid4())
    other_kind = "/t/u/" + (await shop.link(mail, TokenKind.PREFERENCES)).removeprefix("/pref/")
    before = await shop.state()

    for bad in (good[:-2], good[:-1] + "!", "/t/u/x", gone, other_kind, "/pref/%00"):
        for method in ("GET", "POST"):
            answer = await shop.http.request(
                method, bad, headers={"Accept-Language": "de-CH, en;q=0.5"}
            )
            assert answer.status_code == 404
            assert 'lang="de"' in answer.text

    assert await shop.state() == before


async def test_a_link_of_another_project_opens_nothing(shop: Leaving) -> None:
    """Its key is valid, but the mail it names belongs to another project."""
    other = await make.project(shop.conn)
    mail = await shop.mail(somebody(), "news")
    seals = await shop.keyring.of(shop.conn, other)

    text = seals.seal(Token(TokenKind.UNSUBSCRIBE, mail))

    assert (await shop.http.get(f"/t/u/{text}")).status_code == 404


async def test_pages_send_no_referrer(shop: Leaving) -> None:
    answer = await shop.http.get(await shop.link_to(somebody()))

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert "noindex" in answer.headers["x-robots-tag"]
    assert "set-cookie" not in answer.headers
    assert "http://" not in answer.text
    assert "https://" not in answer.text
    assert "<script" not in answer.text


async def test_two_spellings_of_a_domain_are_one_person(shop: Leaving) -> None:
    local = uuid4().hex[:8]

    await shop.http.post(await shop.link_to(f"{local}@bücher.example", "news"), data=ONE_CLICK)

    assert not await shop.gets(f"{local}@xn--bcher-kva.example", "news")
    assert not await shop.gets(f"{local}@bücher.example", "news")

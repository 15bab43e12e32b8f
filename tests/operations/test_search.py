"""The search: what finds what, for whom, and that it reads few pages however much mail there is."""

from uuid import UUID, uuid4

import pytest

from mailqueue.admin.users import manage
from mailqueue.contract.search import Match
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations import search
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts import people
from tests.mail.claim.steps import claim, settle
from tests.operations.test_view_plans import much_mail, pages_read

pytestmark = pytest.mark.anyio

FOREIGN_ID = "<20260501.77@shop.example>"
_DEEP_QUEUE = """
CREATE OR REPLACE FUNCTION mailqueue.rows_of(p_table regclass) RETURNS bigint
LANGUAGE sql STABLE AS 'SELECT 10000000::bigint'
"""


async def sent(conn: Conn, **columns: object) -> UUID:
    """Send one email, with a Message-ID and a provider's id that are not ours."""
    email = await make.queued_email(conn, **columns)
    await settle(conn, await claim(conn, await make.worker(conn)))
    await make.by_hand(conn)
    await conn.execute(
        "UPDATE mailqueue.email_history SET message_id = %s, provider_message_id = 'ses-0100-a'"
        " WHERE id = %s",
        (FOREIGN_ID, email),
    )
    return email


def kinds(found: list[Match]) -> list[tuple[str, str, str]]:
    return [(match.kind, match.id, match.matched) for match in found]


async def test_an_email_is_found_by_each_of_its_ids(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await sent(conn, subject="Your order")
    waiting = await make.queued_email(conn, recipient_email="ben@example.com")

    for text, matched in (
        (str(email), "id"),
        (email.hex.upper(), "id"),
        (f"  {email} ", "id"),
        (f"<{email.hex}@example.com>", "message_id"),
        (FOREIGN_ID, "message_id"),
        (FOREIGN_ID.strip("<>"), "message_id"),
        ("ses-0100-a", "provider_message_id"),
        ("<ses-0100-a>", "provider_message_id"),
    ):
        assert kinds(await search.search(conn, text)) == [("email", str(email), matched)], text
    [found] = await search.search(conn, str(email))
    assert (found.title, found.detail, found.status, found.project) == (
        "Your order",
        "ann@example.com",
        "sent",
        "default",
    )
    assert kinds(await search.search(conn, str(waiting))) == [("email", str(waiting), "id")]


async def test_a_recipient_is_found_by_the_address_in_any_spelling(
    database: DatabaseSettings,
) -> None:
    """In a database of its own: others have had so many rows that the queue is not searched."""
    async with connect(database) as conn:
        await make.sender_account(conn)
        shop = await make.project(conn, "shop")
        await sent(conn)
        await make.queued_email(conn, cc=["Zoë@bücher.example", "ann@example.com"])
        await conn.execute(
            "SELECT mailqueue.suppress(%s, 'ann@example.com', '', 'hard_bounce', NULL)", (shop,)
        )

        ann = await search.search(conn, "Ann@Example.com")
        found = {(match.project, match.emails, match.status) for match in ann}
        assert found == {("default", 3, None), ("shop", 0, "hard_bounce")}
        [zoe] = await search.search(conn, "zoë@BÜCHER.example")
        assert (zoe.kind, zoe.project, zoe.emails) == ("recipient", "default", 1)


async def test_a_contact_that_no_mail_went_to_is_found_by_the_address(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await make.project(conn, "blog")
    await people.put(conn, shop, "Zoë@bücher.example")

    [zoe] = await search.search(conn, "zoë@BÜCHER.example")

    assert (zoe.kind, zoe.project, zoe.emails, zoe.status) == ("recipient", "shop", 0, None)
    assert await search.search(conn, "erased@erased.invalid") == []


async def test_projects_and_templates_are_found_by_the_beginning_of_a_name(conn: Conn) -> None:
    shop = await make.project(conn, "shop_1", display_name="Summer sale")
    await make.project(conn, "shopx1")
    found = await make.template(conn, shop, slug="summer-offer", name="Offers 100%")

    assert kinds(await search.search(conn, "SHOP_")) == [("project", str(shop), "name")]
    assert kinds(await search.search(conn, "summer")) == [
        ("project", str(shop), "name"),
        ("template", str(found), "name"),
    ]
    assert kinds(await search.search(conn, "offers 100%")) == [("template", str(found), "name")]
    assert kinds(await search.search(conn, str(found))) == [("template", str(found), "id")]
    assert kinds(await search.search(conn, str(shop))) == [("project", str(shop), "id")]
    assert await search.search(conn, "s") == []
    assert await search.search(conn, "%%") == []


async def test_a_batch_is_found_by_its_id(conn: Conn) -> None:
    ids = list(await make.queued_emails(conn, 2))
    project = await make.project_named(conn)
    await conn.execute("SELECT mailqueue.keep_batch(%s, %s, 'News', 'tests')", (project, ids))

    found = await search.search(conn, str(ids[0]))
    assert [match.kind for match in found] == ["email", "batch"]
    assert (found[1].title, found[1].emails) == ("News", 2)


async def test_an_unknown_id_leads_to_the_archive_if_there_is_one(conn: Conn) -> None:
    unknown = uuid4()
    assert await search.search(conn, str(unknown)) == []
    await make.by_hand(conn)
    await conn.execute(
        "INSERT INTO mailqueue.archives (project_id, kind, month, part, state, tier, store, path,"
        " revision, records, bytes, sha256, first_at, last_at, archived_at)"
        " SELECT id, 'email_history', '2026-01-01', 1, 'archived', 'warm', 'main', 'x', 1, 1, 1,"
        " repeat('0', 64), now(), now(), now() FROM mailqueue.projects WHERE name = 'default'"
    )

    [hint] = await search.search(conn, str(unknown))
    assert (hint.kind, hint.project) == ("archive", None)
    assert hint.title is not None
    assert "archive" in hint.title


@pytest.mark.parametrize("text", ["", "  ", "<>", "\0", "x" * 5000, "'; --", "a@" + "b" * 400])
async def test_a_text_that_names_nothing_finds_nothing(conn: Conn, text: str) -> None:
    assert await search.search(conn, text) == []


async def test_a_user_finds_what_is_in_the_own_projects(conn: Conn) -> None:
    await make.sender_account(conn)
    shop = await make.project(conn, "shop")
    theirs = await make.project(conn, "shop-of-others")
    email = await sent(conn, subject="Not theirs")
    await make.template(conn, theirs, slug="shop-news")
    await manage.add(conn, "ben", role="support", projects=["shop"], by="tests")
    await manage.add(conn, "sue", role="superadmin", by="tests")
    users = dict(await make.rows(conn, "SELECT name, id FROM mailqueue.console_users"))

    for text in (str(email), FOREIGN_ID, "ses-0100-a", "ann@example.com", str(theirs), "default"):
        assert await search.search_for_user(conn, users["ben"], text) == [], text
        assert await search.search_for_user(conn, users["sue"], text) != [], text
    assert kinds(await search.search_for_user(conn, users["ben"], "shop")) == [
        ("project", str(shop), "name")
    ]
    await conn.execute("SELECT mailqueue.remove_console_user('sue', 'tests')")
    assert await search.search_for_user(conn, users["sue"], "shop") == []
    assert await search.search_for_user(conn, uuid4(), "shop") == []


async def test_each_look_up_is_by_an_index(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        email = await much_mail(conn)
        await conn.execute(_DEEP_QUEUE)  # unfinished mail is not searched for addresses then
        for text in (
            str(email),
            FOREIGN_ID,
            "ses-0100-a",
            "person77@example.com",
            "nobody@example.com",
            "default",
            "nothing",
        ):
            query = f"SELECT * FROM mailqueue.search('{text}', 20)"
            await make.rows(conn, query)  # catalogues are read once
            read = await pages_read(conn, query)
            assert read < 250, f"{text}: {read} pages"

"""Contacts of a list that asks them confirm by a link, and get nothing else until then."""

from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.contacts import lists, opt_in
from mailqueue.contacts.opt_in import AskedState
from mailqueue.contract.contacts import MemberStatus
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.templates.model import NewText
from tests import make
from tests.contacts import people
from tests.templates.making import published

pytestmark = pytest.mark.anyio

WORDING = "Do you want it? Yes"


async def asked(conn: Conn, project: UUID, *, language: str | None = None) -> list[UUID]:
    """Add a contact to a list that asks; return the ids of the mails that ask, oldest first."""
    given: dict[str, Any] = {} if language is None else {"language": language}
    contact = await people.put(conn, project, "ann@example.com", **given)
    assert contact is not None
    add = "SELECT mailqueue.add_list_members(%s, 'news', %s)"
    await conn.execute(add, (project, [UUID(contact["id"])]))
    query = "SELECT email_id FROM mailqueue.list_confirmations ORDER BY created_at, email_id"
    return [row[0] for row in await make.rows(conn, query)]


async def test_a_contact_confirms_once_and_what_it_saw_is_kept(conn: Conn) -> None:
    project = await make.project_named(conn)
    list_id = await people.list_of(conn, project, opt_in="confirmed", description="Monthly <news>")
    [email] = await asked(conn, project, language="de-AT")

    query = "SELECT subject, html_body, text_body FROM mailqueue.email_contents"
    [(subject, html, text)] = await make.rows(conn, query)
    assert subject == "Bitte bestätigen: Monthly <news>"
    assert "Monthly &lt;news&gt;" in html
    assert '<a href="{{ confirm_url }}">' in html
    assert "{{ confirm_url }}" in text
    assert await people.members(conn, project, list_id) == []
    found = await opt_in.list_to_confirm(conn, project, email)
    assert found is not None
    assert (found.list, found.state) == ("Monthly <news>", AskedState.PENDING)

    done = [
        await opt_in.confirm(
            conn, project, email, wording=WORDING, agent="Firefox", network="192.0.2.0/24"
        )
        for _ in range(2)
    ]

    assert done == [True, False]
    assert await people.members(conn, project, list_id) == ["ann@example.com"]
    query = (
        "SELECT confirmed_at = now(), confirm_wording, confirm_agent, confirm_network::text"
        " FROM mailqueue.contact_list_members"
    )
    assert await make.rows(conn, query) == [(True, WORDING, "Firefox", "192.0.2.0/24")]
    query = "SELECT consented_at = now(), consent_source, consent_wording FROM mailqueue.contacts"
    assert await make.rows(conn, query) == [(True, "confirmed list news", WORDING)]


async def test_mails_that_ask_are_few_and_their_time_ends(conn: Conn) -> None:
    project = await make.project_named(conn)
    await people.list_of(conn, project, opt_in="confirmed")
    earlier = "UPDATE mailqueue.list_confirmations SET created_at = created_at - interval '2 h'"

    assert len(await asked(conn, project)) == 1
    assert len(await asked(conn, project)) == 1  # a moment ago
    for count in (2, 3, 3):
        await conn.execute(earlier)
        assert len(await asked(conn, project)) == count
    await conn.execute("UPDATE mailqueue.contact_list_members SET pending_until = now()")
    [first, *_] = await asked(conn, project)
    found = await opt_in.list_to_confirm(conn, project, first)
    assert found is not None
    assert found.state is AskedState.EXPIRED
    assert not await opt_in.confirm(conn, project, first, wording=WORDING, agent=None, network=None)
    await conn.execute(
        "UPDATE mailqueue.list_confirmations SET created_at = created_at - interval '8 days'"
    )
    assert len(await asked(conn, project)) == 4
    assert await opt_in.confirm(conn, project, first, wording=WORDING, agent=None, network=None)


async def test_the_project_may_word_the_mail_itself(conn: Conn) -> None:
    project = await make.project_named(conn)
    words = NewText("Confirm {{ list.name }}", None, "{{ contact.first_name }}: {{ confirm_url }}")
    with pytest.raises(errors.InvalidParameterValue, match="confirm_template"):
        async with conn.transaction():
            await people.list_of(conn, project, opt_in="confirmed", confirm_template="welcome")
    await published(conn, project, words=words)
    await people.list_of(conn, project, opt_in="confirmed", confirm_template="welcome")

    await asked(conn, project)

    query = "SELECT custom_data -> 'variables' -> 'list' ->> 'name' FROM mailqueue.email_queue"
    assert await make.rows(conn, query) == [("news",)]


async def test_nothing_of_a_removed_contact_can_be_confirmed(conn: Conn) -> None:
    project = await make.project_named(conn)
    await people.list_of(conn, project, opt_in="confirmed")
    [email] = await asked(conn, project)
    removed = "SELECT mailqueue.remove_contact(%s, id) FROM mailqueue.contacts"

    assert await make.scalar(conn, removed, project) == 1  # the mail that asks
    assert await opt_in.list_to_confirm(conn, project, email) is None
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.list_confirmations") == 0


async def test_contacts_that_have_not_confirmed_are_listed_in_pages(conn: Conn) -> None:
    """Those of the list alone, the time of whose link may be over."""
    project = await make.project_named(conn)
    await people.list_of(conn, project, "shop", opt_in="confirmed")
    await people.list_of(conn, project, opt_in="confirmed")
    addresses = [f"{name}@example.com" for name in ("ann", "bob", "cid", "dan")]
    ids = sorted(await people.added(conn, project, *addresses))
    add = "SELECT mailqueue.add_list_members(%s, %s, %s)"
    await conn.execute(add, (project, "news", ids[:3]))
    await conn.execute(add, (project, "shop", ids[3:]))
    await conn.execute("UPDATE mailqueue.contact_list_members SET pending_until = now()")
    confirm = "UPDATE mailqueue.contact_list_members SET is_pending = false WHERE contact_id = %s"
    found: dict[MemberStatus, list[list[UUID]]] = {one: [] for one in MemberStatus}

    for _ in range(2):
        for status in MemberStatus:
            after = None
            read: list[UUID] = []
            while True:
                page = await lists.members(
                    conn, project, "news", status=status, after=after, limit=2
                )
                read += [one.id for one in page.data]
                if page.next_cursor is None:
                    break
                (after,) = key_of(page.next_cursor, UUID)
            found[status].append(read)
        await conn.execute(confirm, [ids[0]])

    assert found[MemberStatus.PENDING] == [ids[:3], ids[1:3]]
    assert found[MemberStatus.ACTIVE] == [[], ids[:1]]

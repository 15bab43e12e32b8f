"""A person sees and changes their own rows alone, in their own project alone."""

from http import HTTPStatus
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.portal.table import PAGES
from tests import make
from tests.portal.filled import filled
from tests.portal.visiting import HOME, PASSWORD, Visiting, Visitor

pytestmark = pytest.mark.anyio

MARK = "zebra"
"""A word in all that the other person has."""
FORM = {
    "email_address": "ann@example.com",
    "host": "imap.example.com",
    "password": PASSWORD,
    "pattern": "example.com",
    "rule_type": "sender",
    "button": "save",
}
TABLES = (
    *("inbox_users", "mailboxes", "notification_channels", "channel_consents", "filter_rules"),
    *("notifications", "inbox_logins", "inbox_links", "inbox_sessions", "inbox_consents"),
    *("slack_installations", "phone_registrations"),
)


async def rows_of(conn: Conn, person: UUID) -> list[str]:
    """Return every row of a person, to check that none was changed."""
    found = []
    for table in TABLES:
        column = {"inbox_users": "id", "channel_consents": "email"}.get(table, "user_id")
        value = "other@example.com" if column == "email" else person
        query = f"SELECT array_agg(t::text ORDER BY t::text) FROM mailqueue.{table} AS t"
        found.append(str(await make.scalar(conn, f"{query} WHERE t.{column} = %s", value)))
    return found


async def crawled(visitor: Visitor, variables: dict[str, str]) -> dict[str, str]:
    """Visit every page and send every form for ids of another; return the answers by path."""
    answers = {}
    for page in PAGES:
        if page.is_public or page.path == "/logout":
            continue
        path = page.path.format(**variables)
        if page.method == "GET":
            response = await visitor.get(path)
        else:
            response = await visitor.post(path, FORM | {"token": visitor.token(path)})
        assert response.status_code < 500, f"{page.method} {path}: {response.text}"
        if "{" in page.path:
            assert response.status_code == HTTPStatus.NOT_FOUND, f"{page.method} {path}"
        answers[f"{page.method} {path}"] = response.text
    return answers


@pytest.mark.parametrize("project", ["default", "other"])
async def test_no_page_shows_or_changes_what_another_person_has(
    portal: Visiting, project: str
) -> None:
    await portal.person()
    async with portal.connection() as conn:
        if project != "default":
            await make.project(conn, project)
    other = await portal.person("other@example.com", project)
    async with portal.connection() as conn:
        theirs = await filled(conn, other, project=project, word=MARK)
        before = await rows_of(conn, other)
    async with portal.visitor() as visitor:
        await visitor.log_in()
        answers = await crawled(visitor, theirs.variables)
    async with portal.connection() as conn:
        after = await rows_of(conn, other)

    assert len(answers) >= 25
    assert {path for path, text in answers.items() if MARK in text} == set()
    assert after == before


async def test_another_projects_page_shows_nothing_and_ends_no_session(portal: Visiting) -> None:
    await portal.person()
    async with portal.connection() as conn:
        await make.project(conn, "other")
    other = await portal.person("ann@example.com", "other")
    async with portal.visitor() as visitor:
        await visitor.log_in()
        theirs = await visitor.http.get("/inbox/other")
        link = await visitor.http.get(await portal.link(other, "other"))
        unknown = await visitor.http.get("/inbox/no-such-project")
        crossed = await visitor.http.get(
            (await portal.link(other, "other")).replace("/other/", "/default/")
        )
        mine = await visitor.get()

    assert theirs.headers["location"] == "/inbox/other/login"
    assert unknown.headers["location"] == "/inbox/no-such-project/login"
    assert link.status_code == HTTPStatus.OK
    assert crossed.status_code == HTTPStatus.NOT_FOUND
    assert mine.status_code == HTTPStatus.OK


async def test_a_session_of_one_project_is_none_of_another(portal: Visiting) -> None:
    await portal.person()
    async with portal.connection() as conn:
        await make.project(conn, "other")
    await portal.person("ann@example.com", "other")
    async with portal.visitor() as visitor:
        await visitor.log_in()
        token = visitor.http.cookies["inbox_session_default"]
        visitor.http.cookies.set("inbox_session_other", token)
        visitor.http.cookies.set("mailqueue_session", token)
        crossed = await visitor.http.get("/inbox/other")
        mine = await visitor.http.get(HOME)

    assert crossed.status_code == HTTPStatus.SEE_OTHER
    assert mine.status_code == HTTPStatus.OK

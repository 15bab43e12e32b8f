"""Invitations of inbox users over HTTP: by mail or by a link, never both."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER

pytestmark = pytest.mark.anyio

PUBLIC = "https://mail.example.com"
USERS = "/v1/inbox-users"


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    async with calling(database, master_key=Secret(MASTER), public_url=PUBLIC) as made:
        yield made


async def user(api: Calling) -> str:
    return str((await api.post(USERS, {"email": "ann@example.com"})).json()["id"])


async def test_a_link_is_answered_and_no_mail_is_sent(api: Calling) -> None:
    response = await api.post(f"{USERS}/{await user(api)}/invite", {"by": "link"})
    async with api.pool.connection() as conn:
        mails = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")

    assert response.status_code == 200, response.text
    assert response.json()["url"].startswith(f"{PUBLIC}/inbox/default/welcome?link=mq_inbox_")
    assert response.json()["email_id"] is None
    assert mails == 0


async def test_a_link_is_mailed_and_not_answered(api: Calling) -> None:
    response = await api.post(f"{USERS}/{await user(api)}/invite")
    async with api.pool.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT q.id::text, q.recipient_email, c.text_body FROM mailqueue.email_queue AS q"
            " JOIN mailqueue.email_contents AS c ON c.id = q.content_id",
        )

    assert response.status_code == 200, response.text
    assert response.json()["url"] is None
    assert rows[0][:2] == (response.json()["email_id"], "ann@example.com")
    assert f"{PUBLIC}/inbox/default/welcome?link=mq_inbox_" in rows[0][2]


async def test_a_person_who_is_not_there_and_a_way_that_is_unknown_are_refused(
    api: Calling,
) -> None:
    known = await user(api)
    missing = await api.post(f"{USERS}/{known[:-1]}{'0' if known[-1] != '0' else '1'}/invite")
    unknown = await api.post(f"{USERS}/{known}/invite", {"by": "pigeon"})

    assert (missing.status_code, unknown.status_code) == (404, 422)


async def test_without_a_public_url_no_link_is_made(database: DatabaseSettings) -> None:
    async with calling(database, master_key=Secret(MASTER)) as api:
        response = await api.post(f"{USERS}/{await user(api)}/invite", {"by": "link"})

    assert response.status_code == 409
    assert "MAILQUEUE_PUBLIC_URL" in response.text


async def test_a_person_is_mailed_three_invitations_even_if_added_again(api: Calling) -> None:
    ann = await user(api)
    other = str((await api.post(USERS, {"email": "bob@example.com"})).json()["id"])
    statuses = [(await api.post(f"{USERS}/{ann}/invite")).status_code for _ in range(3)]
    refused = await api.post(f"{USERS}/{ann}/invite")
    link = await api.post(f"{USERS}/{ann}/invite", {"by": "link"})
    await api.delete(f"{USERS}/{ann}")
    again = await api.post(f"{USERS}/{await user(api)}/invite")
    of_another = await api.post(f"{USERS}/{other}/invite")

    assert statuses == [200, 200, 200]
    assert (refused.status_code, again.status_code) == (429, 429)
    assert 1100 < int(refused.headers["retry-after"]) <= 1200
    assert "one person" in refused.text
    assert "the next one may at 20" in refused.text
    assert (link.status_code, of_another.status_code) == (200, 200)
    async with api.pool.connection() as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 4


async def test_a_project_mails_a_thousand_invitations_a_day_and_another_is_not_counted(
    api: Calling,
) -> None:
    async with api.pool.connection() as conn:
        project = await make.project_named(conn, "default")
        other = await make.project(conn, "other")
        query = (
            "SELECT count(*) FILTER (WHERE m.refusal IS NULL), max(m.refusal), max(m.wait)"
            " FROM generate_series(1, 1003) AS n, mailqueue.take_login_mail("
            "%s, 'person' || n || '@example.com', 'invitation') AS m"
        )
        ((taken, refusal, wait),) = await make.rows(conn, query, project)
        ((elsewhere, _, _),) = await make.rows(conn, query.replace("1003", "3"), other)
        ((resets, _, _),) = await make.rows(conn, query.replace("invitation", "reset"), project)
    refused = await api.post(f"{USERS}/{await user(api)}/invite")

    assert 1000 <= taken <= 1002
    assert "all persons of a project" in refusal
    assert wait.total_seconds() <= 86.4
    assert elsewhere == 3
    assert resets >= 1000
    assert refused.status_code == 429

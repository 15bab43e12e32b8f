"""A login that is bound to projects enqueues for those only, by any interface."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from psycopg import DatabaseError, errors

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.producers import manage
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.conftest import Server
from tests.rules.logins import login

pytestmark = pytest.mark.anyio

WAYS = (
    "INSERT INTO mailqueue.email_queue (project, recipient_email, subject, text_body)"
    " VALUES (%s, 'ann@example.com', 'Hello', 'Hi')",
    "INSERT INTO mailqueue.outboxes (project, to_email, subject, body)"
    " VALUES (%s, 'ann@example.com', 'Hello', 'Hi')",
    "SELECT mailqueue.enqueue(%s, 'ann@example.com', 'Hello', text => 'Hi')",
    "SELECT mailqueue.enqueue(%s, 'ann@example.com',"
    ' options => \'{"template": "welcome", "variables": {}}\')',
    "SELECT mailqueue.enqueue_batch(%s,"
    ' \'[{"recipient": "ann@example.com", "subject": "s", "text": "t"}]\')',
)


@pytest.fixture
async def owner(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as opened:
        for name in ("shop", "news"):
            project = await make.project(opened, name)
            await make.sender_account(opened, project_id=project)
        await make.sender_account(opened)
        yield opened


@pytest.fixture
async def program(owner: Conn, server: Server, fresh_db: str) -> AsyncIterator[Conn]:
    """A connection of a producer's own login."""
    url = server.superuser_url(urlsplit(fresh_db).path[1:])
    async with login(url, "mailqueue_producer") as opened:
        yield opened


async def name_of(program: Conn) -> str:
    found: str = await make.scalar(program, "SELECT session_user::text")
    return found


@pytest.mark.parametrize("way", WAYS)
async def test_a_bound_login_is_refused_for_another_project(
    owner: Conn, program: Conn, way: str
) -> None:
    name = await name_of(program)
    await manage.bind(owner, name, ["shop"], by="ann")

    for role in ("", "SET ROLE mailqueue_producer"):
        if role:
            await program.execute(role.encode())
        with pytest.raises(errors.InsufficientPrivilege) as info:
            await program.execute(way.encode(), ["news"])
        assert info.value.diag.message_primary == (
            f"login {name} may not enqueue for project news, only for shop"
        )
    if "template" not in way:
        await program.execute(way.encode(), ["shop"])
        assert await make.scalar(owner, "SELECT count(*) FROM mailqueue.email_queue") == 1


async def test_a_copy_into_another_project_is_refused_whole(owner: Conn, program: Conn) -> None:
    await manage.bind(owner, await name_of(program), ["shop"], by="ann")
    copy = "COPY mailqueue.email_queue (project, recipient_email, subject, text_body) FROM STDIN"

    async def copied(*projects: str) -> None:
        async with program.cursor().copy(copy) as stream:
            for project in projects:
                await stream.write_row((project, "ann@example.com", "Hello", "Hi"))

    with pytest.raises(errors.InsufficientPrivilege):
        await copied("shop", "news")
    await copied("shop", "shop")
    assert await make.scalar(owner, "SELECT count(*) FROM mailqueue.email_queue") == 2


async def test_the_default_project_is_another_project_too(owner: Conn, program: Conn) -> None:
    await manage.bind(owner, await name_of(program), ["shop"], by="ann")
    with pytest.raises(errors.InsufficientPrivilege, match="for project default, only for shop"):
        await program.execute(
            "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
            " VALUES ('ann@example.com', 'Hello', 'Hi')"
        )


async def test_other_logins_enqueue_for_every_project(owner: Conn, program: Conn) -> None:
    name = await name_of(program)
    bound = await manage.bind(owner, name, ["shop"], by="ann")
    assert (bound.projects, bound.is_known) == (["shop"], True)
    await owner.execute(WAYS[1].encode(), ["news"])

    both = await manage.bind(owner, name, ["news"], by="ann")
    assert both.projects == ["news", "shop"]
    await program.execute(WAYS[1].encode(), ["news"])
    await manage.unbind(owner, name, ["shop"], by="ann")
    with pytest.raises(DatabaseError, match="only for news"):
        await program.execute(WAYS[1].encode(), ["shop"])
    assert await manage.unbind(owner, name, None, by="ann") is None
    await program.execute(WAYS[1].encode(), ["shop"])

    subject = f"login {name}"
    actions = await make.rows(
        owner,
        "SELECT action FROM mailqueue.audit_events WHERE subject = %s ORDER BY id",
        subject,
    )
    assert [each[0].removeprefix("producer.") for each in actions] == [
        "bound",
        "bound",
        "unbound",
        "unbound",
    ]


async def test_a_producer_neither_reads_nor_changes_what_binds_it(
    owner: Conn, program: Conn
) -> None:
    name = await name_of(program)
    await manage.bind(owner, name, ["shop"], by="ann")
    for statement in (
        "SELECT * FROM mailqueue.producer_projects",
        "DELETE FROM mailqueue.producer_projects",
        f"SELECT mailqueue.unbind_producer('{name}', NULL)",
        f"SET SESSION AUTHORIZATION {name}; SET SESSION AUTHORIZATION mailqueue_owner",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            await program.execute(statement.encode())


async def test_what_cannot_be_bound_is_named(owner: Conn) -> None:
    with pytest.raises(InvalidField, match="no role"):
        await manage.bind(owner, "no_such_login", ["shop"], by="ann")
    me = await name_of(owner)
    with pytest.raises(InvalidField, match='no project "none"'):
        await manage.bind(owner, me, ["none"], by="ann")
    with pytest.raises(NotFound):
        await manage.unbind(owner, me, None, by="ann")


async def test_health_names_logins_that_do_not_exist(owner: Conn) -> None:
    await owner.execute(
        "INSERT INTO mailqueue.producer_projects (login, project_id)"
        " SELECT 'gone_app', id FROM mailqueue.projects WHERE name = 'shop'"
    )
    found = await make.rows(
        owner, "SELECT state, found FROM mailqueue.health WHERE name = 'producer logins'"
    )
    assert found[0][0] == "warning"
    assert "gone_app" in found[0][1]

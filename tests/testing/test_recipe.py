"""The page about testing works as it stands, with the connections and templates that it names."""

from urllib.parse import urlsplit

import psycopg
import pytest
import sqlalchemy
from sqlalchemy.orm import Session

import mailqueue
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.testing import assert_queued, drain_async, install, install_async, queued
from tests import make
from tests.conftest import Server
from tests.recipes.shop import LOGIN, opened, shown
from tests.templates.making import published

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(server: Server, fresh_db: str) -> str:
    """A database without mail, as its owner reaches it."""
    return server.superuser_url(urlsplit(fresh_db).path[1:])


def test_the_tests_of_the_page_pass(url: str) -> None:
    (text,) = shown("testing", "python")
    names: dict[str, object] = {}
    exec(compile(text, "testing.md", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]

    install(url)
    assert len(tests) == 2
    for test in tests:
        assert callable(test)
        test(url)


def test_a_login_that_may_read_finds_what_it_queued_through_sqlalchemy(url: str) -> None:
    install(url)
    with opened(url, f"GRANT mailqueue_producer, mailqueue_dba TO {LOGIN}") as shop:
        engine = sqlalchemy.create_engine(shop.url.replace("postgresql:", "postgresql+psycopg:"))
        with Session(engine) as session:
            connection = session.connection().connection
            mailqueue.enqueue(
                connection.driver_connection,  # type: ignore[arg-type]
                "ann@example.com",
                subject="Hello",
                text="Hello",
            )
            assert_queued(connection, to="ann@example.com", subject="Hello", template=None)
        engine.dispose()


async def test_a_template_is_named_while_queued_and_rendered_when_sent(url: str) -> None:
    await install_async(url)
    async with connect(DatabaseSettings(Secret(url))) as conn:
        await published(conn, await make.project_named(conn))
        await mailqueue.enqueue(
            conn, "ann@example.com", template="welcome", variables={"name": "Ann"}
        )

    with psycopg.connect(url) as reading:
        assert [email.template for email in queued(reading)] == ["welcome"]
    [sent] = await drain_async(url)

    assert sent.subject == "Welcome, Ann"
    assert sent.html is not None
    assert "Hello Ann" in sent.html

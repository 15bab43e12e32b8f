"""Workers and the API need only the rights of their roles for tracking."""

from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mime.skeleton import MessageContent
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.tracking.injector import Injection, TrackingInjector, UntrackedMail
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.pattern import InjectionContext, TrackingOptions
from tests import make
from tests.conftest import Server
from tests.rules.logins import login
from tests.vault.sealed import FIRST

pytestmark = pytest.mark.anyio

HTML = "<a href='https://example.com/'>x</a>"


async def injected(conn: Conn, project_id: UUID) -> list[Injection | str]:
    """Track the first mails of a project."""
    injector = TrackingInjector(
        Keyring(lambda: FIRST), TrackingSettings("https://mail.example.com")
    )
    wants = TrackingOptions(clicks=True, unsubscribe=True, is_marketing=True)
    mails = [
        UntrackedMail(uuid4(), project_id, wants, MessageContent("x", HTML, None)) for _ in range(2)
    ]
    context = (await injector.contexts(conn, [project_id]))[project_id]
    assert isinstance(context, InjectionContext), context
    return await injector.inject(conn, mails, {project_id: context})


async def counts(conn: Conn, project_id: UUID) -> list[int]:
    tables = ("tracking_keys", "tracked_links", "tracking_gaps")
    count = "SELECT count(*) FROM mailqueue.{} WHERE project_id = %s"
    return [await make.scalar(conn, count.format(table), project_id) for table in tables]


async def test_a_worker_dresses_the_first_tracked_mail_of_a_project_with_its_own_rights(
    server: Server, fresh_db: str
) -> None:
    superuser_url = server.superuser_url(urlsplit(fresh_db).path.lstrip("/"))
    async with connect(DatabaseSettings(Secret(fresh_db))) as owner:
        shop = await make.project(owner, "shop")
        async with login(superuser_url, "mailqueue_worker") as conn:
            made = await injected(conn, shop)

        assert all(isinstance(each, Injection) for each in made)
        assert await counts(owner, shop) == [1, 1, 1]


async def test_the_api_dresses_mail_it_sends_itself_with_its_own_rights(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", (str(shop),))
    await conn.execute("SET LOCAL ROLE mailqueue_api")

    made = await injected(conn, shop)

    assert all(isinstance(each, Injection) for each in made)
    await conn.execute("RESET ROLE")
    assert await counts(conn, shop) == [1, 1, 1]


async def test_the_api_sees_no_other_tenants_keys_and_links(conn: Conn) -> None:
    shop, blog = await make.project(conn, "shop"), await make.project(conn, "blog")
    keyring = Keyring(lambda: FIRST)
    await keyring.of(conn, shop)
    await keyring.of(conn, blog)
    await conn.execute(
        "INSERT INTO mailqueue.tracked_links (project_id, link, url)"
        " SELECT p.id, decode(repeat('00', 12), 'hex'), 'https://example.com/'"
        " FROM mailqueue.projects AS p WHERE p.name IN ('shop', 'blog')"
    )
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", (str(shop),))
    await conn.execute("SET LOCAL ROLE mailqueue_api")

    for table in ("tracking_keys", "tracked_links"):
        seen = await make.rows(conn, f"SELECT project_id FROM mailqueue.{table}")
        assert seen == [(shop,)]

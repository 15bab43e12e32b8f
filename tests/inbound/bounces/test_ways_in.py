"""Bounce mail over HTTP, and the return path of sent mail."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect, open_pool
from mailqueue.inbound import endpoints
from mailqueue.inbound.endpoints import NO_CHANGE, SecretsChange
from mailqueue.senders import accounts
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.keyring import Keyring
from mailqueue.wiring.api import build_services
from mailqueue.wiring.sending import SenderDirectory
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.events.sent_mail import left
from tests.inbound.bounces.bounce_mail import MASTER, BounceReceiver, failed, report

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def database(module_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(module_db))


@pytest.fixture(scope="module")
async def conn(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as made:
        yield made


@pytest.fixture(scope="module")
def settings(database: DatabaseSettings) -> Any:
    return replace(settings_for(database), master_key=Secret(MASTER.key.hex()))


async def url_of(conn: Conn, name: str, change: SecretsChange) -> str:
    await make.sender_account(conn, name=name)
    shown = await endpoints.put(
        conn,
        await accounts.find(conn, "default", name=name),
        provider="smtp",
        change=change,
        is_rotated=False,
        master=MASTER,
        base_url=ORIGIN,
        by="tests",
    )
    return shown.url


async def test_a_relay_hands_bounces_on_over_http(
    database: DatabaseSettings, conn: Conn, settings: Any
) -> None:
    office = BounceReceiver(conn, database, Keyring(lambda: MASTER))
    mail = await left(conn, recipient_email="ann@example.com")
    open_url = await url_of(conn, "open", NO_CHANGE)
    closed_url = await url_of(conn, "closed", SecretsChange(signing=("long",)))
    raw = report(failed("ann@example.com"))
    query = {"sender": "", "recipient": await office.way_back(mail)}
    head = {"Content-Type": "message/rfc822"}
    async with open_pool(database) as pool:
        app = create_app(settings, pool, services=build_services(settings, pool))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            refused = await http.post(closed_url, content=raw, params=query, headers=head)
            wrong = await http.post(open_url + "x", content=raw, params=query, headers=head)
            taken = [
                await http.post(open_url, content=raw, params=query, headers=head) for _ in range(2)
            ]

    assert (refused.status_code, wrong.status_code) == (401, 404)
    assert [one.status_code for one in taken] == [200, 200]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.inbound_events") == 1
    await office.work()
    assert await office.suppressed() == ["ann@example.com"]


async def test_an_account_signs_return_paths_where_its_project_has_a_bounce_domain(
    conn: Conn, settings: Any
) -> None:
    project = await make.project(conn, bounce_domain="bounces.example.org")
    ours = await make.sender_account(conn, project_id=project)
    others = await make.sender_account(conn)
    directory = SenderDirectory(settings)

    signing, plain = await directory.read(conn, ours), await directory.read(conn, others)

    assert signing.identity.bounce_domain == "bounces.example.org"
    assert signing.returns is not None
    assert signing.returns.project_id == project
    assert (plain.identity.bounce_domain, plain.returns) == (None, None)

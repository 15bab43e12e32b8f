"""Tracking in mail that a worker sent: what was requested is in it, and its links work."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import borrow, open_pool
from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings, load_settings
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.templates.model import NewText
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import Token, TokenKind
from mailqueue.vault.masterkey import MasterKey, parse_master_key
from mailqueue.wiring import sending
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER
from tests.concurrency.running import account_at, session, until_nothing_is_queued
from tests.mail.enqueueing import enqueue
from tests.smtp.client.scripted import ScriptedServer, scripted
from tests.templates.making import published
from tests.templates.test_sending import arrived, part

pytestmark = pytest.mark.anyio

BASE = "https://mail.example.com"
HTML = "<body><a href='https://example.com/a?b=1&amp;c=2'>a</a><a href='tel:1'>b</a></body>"


@asynccontextmanager
async def worker(database: DatabaseSettings, data: Path, **more: Any) -> AsyncIterator[None]:
    """Run one worker during the block."""
    given = {"public_url": BASE, "master_key": Secret(MASTER), **more}
    settings = load_settings(database_url=database.url, data=data, **given)
    stop = asyncio.Event()
    running = asyncio.create_task(sending.build_send_worker(settings, launch_id=uuid4()).run(stop))
    try:
        yield
    finally:
        stop.set()
        async with asyncio.timeout(60):
            await running


async def sent(
    database: DatabaseSettings, data: Path, server: ScriptedServer, conn: Conn, *emails: NewEmail
) -> dict[str, EmailMessage]:
    """Send mail of the project default and return what arrived, by recipient."""
    await account_at(conn, server)
    await enqueue_batch(conn, emails, project="default")
    async with worker(database, data):
        assert await until_nothing_is_queued(conn) == {"sent": len(emails)}
    return arrived(server)


def new(name: str, html: str | None = HTML, text: str | None = None, **options: Any) -> NewEmail:
    return NewEmail(f"{name}@example.com", "Hello", html, text, options)


async def opened(conn: Conn, url: str, kind: TokenKind) -> Token:
    """Open the token of a link, as the endpoints do."""
    text = url.rpartition("/")[2]
    master: MasterKey = parse_master_key(MASTER, source="test")
    seals = await Keyring(lambda: master).opener(conn, text)
    return seals.open(text, kind)


async def ids(conn: Conn) -> dict[str, UUID]:
    return dict(await make.rows(conn, "SELECT recipient_email, id FROM mailqueue.email_history"))


async def test_each_mail_has_what_it_asks_for_and_no_more(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        found = await sent(
            database,
            tmp_path,
            server,
            conn,
            new("plain"),
            new("opens", track_opens=True),
            new("clicks", track_clicks=True),
            new("clicks2", track_clicks=True),
            new("leaves", unsubscribe=True),
            new("marketing", category="marketing"),
            new("never", category="marketing", unsubscribe=False),
        )
        by_name = await ids(conn)
        html = {name.partition("@")[0]: part(one, "html") for name, one in found.items()}

        assert html["plain"] == html["leaves"] == html["never"] == HTML
        (picture,) = re.findall(r'<img src="(https://[^"]*)"', html["opens"])
        assert (await opened(conn, picture, TokenKind.OPEN)).email_id == by_name[
            "opens@example.com"
        ]
        for name in ("clicks", "clicks2"):
            (link,) = re.findall(r'href="(https://[^"]*)"', html[name])
            token = await opened(conn, link, TokenKind.CLICK)
            assert token.email_id == by_name[f"{name}@example.com"]
            leads = "SELECT url FROM mailqueue.tracked_links WHERE link = %s"
            assert await make.scalar(conn, leads, token.link) == "https://example.com/a?b=1&c=2"
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.tracked_links") == 1
        for name, message in found.items():
            wants = name.startswith(("leaves", "marketing"))
            assert (message["List-Unsubscribe"] is not None) is wants
            assert (message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click") is wants
        header = str(found["leaves@example.com"]["List-Unsubscribe"])
        assert re.fullmatch(rf"<{BASE}/t/u/[\w-]{{54}}>", header)
        token = await opened(conn, header.strip("<>"), TokenKind.UNSUBSCRIBE)
        assert token == Token(TokenKind.UNSUBSCRIBE, by_name["leaves@example.com"])
        assert header.strip("<>") not in html["marketing"]
        assert "Unsubscribe</a>" in html["marketing"]


async def test_what_the_project_says_holds_for_mail_that_says_nothing(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await conn.execute(
            "UPDATE mailqueue.projects SET track_opens = true, track_clicks = true,"
            " postal_address = 'Example Ltd' || chr(10) || '1 High Street'"
        )
        await enqueue(conn, new("one"), project="default")
        await account_at(conn, server)
        emails = [
            new("two"),
            new("neither", track_opens=False, track_clicks=False),
            new("marketing", None, "Buy.", category="marketing"),
        ]
        await enqueue_batch(conn, emails, project="default")
        async with worker(database, tmp_path):
            assert await until_nothing_is_queued(conn) == {"sent": 4}
        found = arrived(server)

    for name in ("one", "two"):
        html = part(found[f"{name}@example.com"], "html")
        assert "/t/o/" in html
        assert "/t/c/" in html
    assert part(found["neither@example.com"], "html") == HTML
    text = part(found["marketing@example.com"], "plain").replace("\r\n", "\n")
    assert text.startswith("Buy.\n\n-- \nExample Ltd\n1 High Street\nUnsubscribe: https://")


async def test_links_of_ours_stand_where_templates_and_bodies_name_them(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    words = NewText(
        "Hi {{ name }}",
        '<p>{{ name }}</p><a href="{{ unsubscribe_url }}">x</a>'
        '<a href="https://example.com/{{ name }}">y</a>',
        "{{ name }}: {{ preferences_url }}",
    )
    async with scripted() as server, session(database) as conn:
        await published(conn, await make.project_named(conn), words=words)
        options = {"template": "welcome", "variables": {"name": "ann"}, "track_clicks": True}
        found = await sent(
            database,
            tmp_path,
            server,
            conn,
            NewEmail("ann@example.com", None, options=options),
            new("bob", None, "To leave: {{ unsubscribe_url }}"),
        )
        by_name = await ids(conn)
        ann, bob = found["ann@example.com"], found["bob@example.com"]
        leave, other = re.findall(r'href="([^"]*)"', part(ann, "html"))

        assert (await opened(conn, leave, TokenKind.UNSUBSCRIBE)).email_id == by_name[
            "ann@example.com"
        ]
        link = (await opened(conn, other, TokenKind.CLICK)).link
        leads = "SELECT url FROM mailqueue.tracked_links WHERE link = %s"
        assert await make.scalar(conn, leads, link) == "https://example.com/ann"
        choose = part(ann, "plain").removeprefix("ann: ")
        assert (await opened(conn, choose, TokenKind.PREFERENCES)).recipient == 0
        leave = part(bob, "plain").removeprefix("To leave: ")
        assert (await opened(conn, leave, TokenKind.UNSUBSCRIBE)).email_id == by_name[
            "bob@example.com"
        ]


async def test_a_message_to_several_has_no_header_by_which_one_would_unsubscribe_another(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        found = await sent(
            database,
            tmp_path,
            server,
            conn,
            new("ann", cc=["bob@example.com"], category="marketing", track_opens=True),
        )

    (message,) = found.values()
    assert message["List-Unsubscribe"] is None
    assert "Unsubscribe</a>" in part(message, "html")
    assert "/t/o/" in part(message, "html")


@pytest.mark.deep
async def test_where_links_lead_nowhere_mail_goes_as_it_is_unless_it_names_one(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        emails = [
            new("ann", track_opens=True, track_clicks=True, unsubscribe=True),
            new("bob", None, "To leave: {{ unsubscribe_url }}"),
        ]
        await enqueue_batch(conn, emails, project="default")
        async with worker(database, tmp_path, public_url=None):
            async with asyncio.timeout(60):
                why = None
                while why is None or not server.messages:
                    query = "SELECT last_error FROM mailqueue.email_queue WHERE status = 'pending'"
                    why = await make.scalar(conn, query)
                    await asyncio.sleep(0.01)

    assert "MAILQUEUE_PUBLIC_URL" in why
    (message,) = arrived(server).values()
    assert part(message, "html") == HTML
    assert message["List-Unsubscribe"] is None


@pytest.mark.deep
async def test_without_the_key_that_seals_tokens_mail_that_has_some_waits(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        await enqueue_batch(conn, [new("ann", track_opens=True), new("bob")], project="default")
        async with worker(database, tmp_path, master_key=None):
            async with asyncio.timeout(60):
                why = None
                while why is None or not server.messages:
                    query = "SELECT last_error FROM mailqueue.email_queue WHERE status = 'pending'"
                    why = await make.scalar(conn, query)
                    await asyncio.sleep(0.01)

    assert "MAILQUEUE_MASTER_KEY" in why
    assert list(arrived(server)) == ["bob@example.com"]


async def test_a_mail_is_shown_and_tried_as_it_would_go_and_no_link_is_written_down(
    database: DatabaseSettings,
) -> None:
    settings = replace(
        settings_for(database),
        master_key=Secret(MASTER),
        tracking=TrackingSettings(BASE),
    )
    body = {
        "to": "ann@example.com",
        "subject": "Hello",
        "html": HTML,
        "text": "Hello",
        "category": "marketing",
        "track_clicks": True,
    }
    async with open_pool(database) as pool, borrow(pool, database) as conn:
        key = await issue_key(conn, "default", "all", is_test=False)
        app = create_app(settings, pool, services=build_services(settings, pool))
        headers = {"X-API-Key": key.key.reveal()}
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(
            transport=transport, base_url=ORIGIN, headers=headers
        ) as http:
            tried = await http.post("/v1/send", json=body | {"dry_run": True})
            sent_ = await http.post("/v1/send", json=body)
            source = await http.get(f"/v1/emails/{sent_.json()['id']}/source")
        links = await make.scalar(conn, "SELECT count(*) FROM mailqueue.tracked_links")

    assert not any("List-Unsubscribe" in each for each in tried.json()["warnings"])
    message = message_from_bytes(source.content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    assert str(message["List-Unsubscribe"]).startswith(f"<{BASE}/t/u/")
    assert f'href="{BASE}/t/c/' in part(message, "html")
    assert links == 0

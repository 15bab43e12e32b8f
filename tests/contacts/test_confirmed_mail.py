"""From the mail that asks, as a server received it, to the first mail to the list."""

import re
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.core.secret import Secret
from mailqueue.db.pool import open_pool
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER
from tests.concurrency.running import account_at, session, until_nothing_is_queued
from tests.contacts import people
from tests.contacts.sends import steps
from tests.smtp.client.scripted import scripted
from tests.templates.test_sending import arrived, part
from tests.tracking.test_dressed_mail import BASE, worker

pytestmark = pytest.mark.anyio


async def test_the_link_of_the_mail_confirms_and_then_the_list_is_sent_to(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        project = await make.project_named(conn)
        await account_at(conn, server)
        await people.list_of(conn, project, opt_in="confirmed", description="Monthly news")
        ann = await people.added(conn, project, "ann@example.com", language="pl")
        await conn.execute("SELECT mailqueue.add_list_members(%s, 'news', %s)", (project, ann))
        async with worker(database, tmp_path):
            await until_nothing_is_queued(conn)
        asked = arrived(server)["ann@example.com"]
        [link] = re.findall(r'href="([^"]*)"', part(asked, "html"))
        assert link in part(asked, "plain")
        assert asked["Subject"] == "Prosimy o potwierdzenie: Monthly news"
        assert link.startswith(f"{BASE}/confirm/")

        settings = replace(settings_for(database), master_key=Secret(MASTER))
        async with open_pool(database) as pool:
            transport = httpx2.ASGITransport(app=create_app(settings, pool))
            async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
                path = link.removeprefix(BASE)
                shown = await http.get(path)
                done = await http.post(path, data={"action": "confirm"})
        assert (shown.status_code, done.status_code) == (200, 200)
        await steps.sent(conn, project)
        await steps.worked(database)

        assert await steps.queued(conn) == ["ann@example.com"]

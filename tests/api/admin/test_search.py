"""`GET /admin/search`: what a text names in all projects."""

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.administering import administering

pytestmark = pytest.mark.anyio


async def test_a_search_finds_what_a_text_names_in_all_projects(
    database: DatabaseSettings,
) -> None:
    async with administering(database) as admin:
        async with admin.conn() as conn:
            await make.project(conn, "shop")
            [email] = await make.queued_emails(conn, 1, project="shop", subject="Your order")

        [found] = (await admin("GET", f"/search?q={email}"))["data"]
        assert (found["kind"], found["project"], found["title"]) == ("email", "shop", "Your order")
        [found] = (await admin("GET", "/search?q=person0@example.com"))["data"]
        assert (found["kind"], found["id"], found["emails"]) == (
            "recipient",
            "person0@example.com",
            1,
        )
        assert (await admin("GET", "/search?q=nothing"))["data"] == []
        for query in ("", "?q=", "?q=x&page=2"):
            await admin("GET", f"/search{query}", status=422)

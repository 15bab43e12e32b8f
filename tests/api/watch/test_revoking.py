"""Consents are revoked at Google once what they were for is gone, together, and audited."""

import asyncio

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import gmail
from mailqueue.watch.store import consents as store
from tests import make
from tests.adapters.sending.fake import FakeReply
from tests.api.watch.consenting import BACK, GMAIL, INBOXES, USERS, Site
from tests.mail.claim.steps import opened, until_waiting
from tests.watch.fake_gmail import ADDRESS

pytestmark = pytest.mark.anyio
AUDIT = """
    SELECT action FROM mailqueue.audit_events
     WHERE action LIKE 'inbox.%' AND action <> 'inbox.consent_begun' ORDER BY id
"""


async def audit(site: Site) -> list[str]:
    async with connect(site.api.database) as conn:
        return [row[0] for row in await make.rows(conn, AUDIT)]


async def test_a_consent_that_cannot_be_used_is_revoked(site: Site) -> None:
    site.google.address = "eve@example.com"
    assert await site.back(await site.consented()) == f"{BACK}/refused"

    assert len(site.google.revoked) == 1
    assert site.google.refresh_tokens == {"refresh-0"}
    assert await audit(site) == ["inbox.consent_refused"]


async def test_an_unusable_consent_to_an_address_that_is_watched_is_kept(site: Site) -> None:
    await site.back(await site.consented())
    other = await site.begun(email_address="bob@example.com")
    given = site.google.consent(other.json()["consent_url"])
    assert await site.back(given) == f"{BACK}/refused", "another account was chosen"

    assert site.google.revoked == []
    assert len(await site.listed()) == 1


async def test_connecting_and_removing_by_consent_is_audited(site: Site) -> None:
    for _ in range(2):
        await site.back(await site.consented())
    [inbox] = await site.listed()
    await site.api.delete(f"{INBOXES}/{inbox['id']}")
    await site.back(await site.consented())
    site.google.script["/revoke"] = [FakeReply(503, b"")]
    await site.api.delete(f"{USERS}/{site.owner}")

    assert await audit(site) == [
        "inbox.added",
        "inbox.reconnected",
        "inbox.removed",
        "inbox.consent_revoked",
        "inbox.added",
        "inbox.consent_not_revoked",
    ]


async def test_a_consent_is_revoked_after_the_removal_has_committed(site: Site) -> None:
    await site.back(await site.consented())
    [inbox] = await site.listed()
    found: list[int] = []

    async with connect(site.api.database) as conn:
        original = gmail.revoke

        async def counting(*given: object) -> bool:
            found.append(await make.scalar(conn, "SELECT count(*) FROM mailqueue.mailboxes"))
            return await original(*given)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gmail, "revoke", counting)
            assert (await site.api.delete(f"{INBOXES}/{inbox['id']}")).status_code == 204
    assert found == [0]


class _Meeting:
    """Revocations that end once all of them have begun."""

    def __init__(self, count: int) -> None:
        self._gate = asyncio.Barrier(count)

    async def revoke(self, token: Secret) -> str | None:
        assert token
        await self._gate.wait()
        return None


async def test_consents_are_revoked_together_and_within_a_limit() -> None:
    tokens = [Secret(f"refresh-{n}") for n in range(gmail.MAX_REVOCATIONS)]
    assert await gmail.revoke(_Meeting(len(tokens)), tokens)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gmail, "REVOKING_SECONDS", 0.01)
        assert not await gmail.revoke(_Meeting(2), tokens[:1])  # type: ignore[arg-type]


async def test_of_two_removals_at_once_the_second_revokes(
    site: Site, database: DatabaseSettings
) -> None:
    await site.back(await site.consented())
    async with connect(database) as conn:
        await make.project(conn, "news")
        key = (await issue_key(conn, "news", "tests", is_test=False)).key.reveal()
    other = (await site.api.post(USERS, {"email": "ann@example.com"}, key=key)).json()["id"]
    body = {"user_id": other, "email_address": ADDRESS}
    begun = await site.api.post(GMAIL, body, key=key)
    await site.back(site.google.consent(begun.json()["consent_url"]))
    async with opened(database, 3) as (conn, first, second):
        query = "SELECT id, project_id FROM mailqueue.mailboxes ORDER BY id"
        rows = await make.rows(conn, query)

        async def listed(by: Conn, place: int) -> int:
            inbox_id, project_id = rows[place]
            found = await store.list_tokens(by, project_id, inbox_id=inbox_id, user_id=None)
            return len(found)

        async with first.transaction():
            assert await listed(first, 0) == 0, "the other project still watches it"
            waiting = asyncio.create_task(listed(second, 1))
            await until_waiting(conn, second)
            await first.execute("DELETE FROM mailqueue.mailboxes WHERE id = %s", (rows[0][0],))
        assert await waiting == 1

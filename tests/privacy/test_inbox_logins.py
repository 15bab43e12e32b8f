"""What an export has, and an erasure leaves, of the logins of persons whose inboxes are watched."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import persons
from mailqueue.privacy.exporting import export_from_all
from mailqueue.watch.logins import links, store
from mailqueue.watch.logins.sessions import LASTS
from tests import make
from tests.privacy.erasing import erased
from tests.watch import watching

pytestmark = pytest.mark.anyio
ADDRESS = "203.0.113.77"
BROWSER = "Browser of Ann/1.0"


async def logged_in(conn: Conn, project_id: UUID, user_id: UUID, number: int) -> None:
    """Set a password of a person by a link, and log in with it."""
    token = bytes([number]) * 32
    until = datetime.now(UTC) + timedelta(days=1)
    await store.invite(conn, project_id, user_id, token=token, until=until, by="tests")
    hashed = f"hash of {number}"
    assert await store.set_password(conn, project_id, token=token, password_hash=hashed)
    begun = await store.begin_session(
        conn,
        project_id,
        user_id,
        password_hash=hashed,
        token=token,
        browser=token,
        address=ADDRESS,
        user_agent=f"{BROWSER} {number}",
        lasts=LASTS,
    )
    assert begun is not None


async def test_an_export_has_the_sessions_of_a_person_and_an_erasure_deletes_them(
    desk: MaintenanceContext,
) -> None:
    project_id = await make.project_named(desk.conn)
    ann = await watching.user(desk.conn, "ann@example.com")
    bob = await watching.user(desk.conn, "bob@example.com")
    await logged_in(desk.conn, project_id, ann, 1)
    await logged_in(desk.conn, project_id, bob, 2)
    await desk.conn.commit()
    lend, spellings = persons.lending(desk.conn), persons.spellings_of("ann@example.com")
    exported = str(await export_from_all(lend, spellings, context=desk))

    assert f"{BROWSER} 1" in exported
    assert ADDRESS in exported
    assert f"{BROWSER} 2" not in exported

    await erased(desk, "ann@example.com")
    query = "SELECT email, user_agent FROM mailqueue.inbox_sessions"
    assert await make.rows(desk.conn, query) == [("bob@example.com", f"{BROWSER} 2")]


async def test_removing_a_person_deletes_password_links_and_sessions(
    desk: MaintenanceContext,
) -> None:
    project_id = await make.project_named(desk.conn)
    ann = await watching.user(desk.conn, "ann@example.com")
    await logged_in(desk.conn, project_id, ann, 1)
    await links.invite(
        desk.conn,
        project_id,
        ann,
        project="default",
        origin="https://mail.example.com",
        by_mail=False,
        by="tests",
    )
    await desk.conn.execute("DELETE FROM mailqueue.inbox_users WHERE id = %s", (ann,))
    for table in ("inbox_logins", "inbox_links", "inbox_sessions"):
        assert await make.scalar(desk.conn, f"SELECT count(*) FROM mailqueue.{table}") == 0

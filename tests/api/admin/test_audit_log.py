"""`/admin/audit-log/verify`: the audit log compared with its seals."""

import base64

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.administering import administering
from tests.api.support.calling import calling
from tests.audit.sealed import add, by_owner, sealed

pytestmark = pytest.mark.anyio
MASTER_KEY = base64.b64encode(bytes(range(32))).decode()
VERIFY = "/audit-log/verify"


async def log_of_two(conn: Conn) -> int:
    """Seal a log whose last rows are of limits; return the id of the last."""
    async with conn.transaction():
        *_, last = await add(conn, "one", "two")
        await sealed(conn)
    return last


async def test_the_log_is_verified_and_a_changed_row_is_named(database: DatabaseSettings) -> None:
    async with administering(database, master_key=MASTER_KEY) as admin, admin.conn() as conn:
        last = await log_of_two(conn)

        found = await admin("GET", VERIFY)

        assert (found["sealed"], found["waiting"], found["faults"]) == (3, 0, [])
        assert found["why_not"] is None
        head = found["head"]
        assert await admin("GET", f"{VERIFY}?head={head}") == found

        async with conn.transaction():
            await by_owner(
                conn, f"UPDATE mailqueue.audit_events SET subject = 'other' WHERE id = {last}"
            )
        (fault,) = (await admin("GET", VERIFY))["faults"]
        assert fault.startswith(f"row {last} (")
        assert "changed" in fault


async def test_a_head_is_compared(database: DatabaseSettings) -> None:
    async with administering(database, master_key=MASTER_KEY) as admin, admin.conn() as conn:
        await log_of_two(conn)

        (fault,) = (await admin("GET", f"{VERIFY}?head=9:{'0' * 64}"))["faults"]
        refused = await admin("GET", f"{VERIFY}?head=soon", status=422)

    assert "are missing" in fault
    assert refused["field"] == "head"


async def test_without_a_master_key_it_says_so(database: DatabaseSettings) -> None:
    async with administering(database) as admin, admin.conn() as conn:
        await log_of_two(conn)

        found = await admin("GET", VERIFY)

    assert found["why_not"] == "no master key is set"
    assert (found["sealed"], found["head"]) == (0, None)


async def test_keys_of_projects_do_not_open_it(database: DatabaseSettings) -> None:
    async with calling(database, master_key=MASTER_KEY) as calls:
        assert (await calls.get(f"/admin{VERIFY}")).status_code == 401

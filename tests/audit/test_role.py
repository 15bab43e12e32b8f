"""The API verifies the audit log with the privileges of its role."""

import pytest
from psycopg import errors

from mailqueue.db.pool import connect
from mailqueue.projects.actor import act_for
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.audit.sealed import add, sealed, verified
from tests.conftest import Server
from tests.rules.logins import login

pytestmark = pytest.mark.anyio


async def test_the_role_of_the_api_is_enough_to_verify(
    server: Server, database: DatabaseSettings, fresh_db: str
) -> None:
    """It reads nothing of the seals where it acts for one project, and makes none."""
    async with connect(database) as owner:
        async with owner.transaction():
            await add(owner, "one", "two")
            await sealed(owner)
        project = await make.project(owner, "shop")

    async with login(server.superuser_url(fresh_db.rpartition("/")[2]), "mailqueue_api") as conn:
        async with conn.transaction():
            await act_for(conn, None, by="test")
            found = await verified(conn)
        async with conn.transaction():
            await act_for(conn, project, by="test")
            hidden = await verified(conn)
        with pytest.raises(errors.InsufficientPrivilege):
            await conn.execute("SELECT FROM mailqueue.audit_seals")

    assert found.why_not is None
    assert (found.sealed, found.faults) == (2, [])
    assert (hidden.sealed, hidden.waiting, hidden.head) == (0, 0, None)

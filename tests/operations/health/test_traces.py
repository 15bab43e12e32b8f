"""The row of view `health` on traces: an export that is late, and none at all."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio


async def traces(conn: Conn) -> tuple[str, str, str | None]:
    [row] = await make.rows(conn, "SELECT state, found, fix FROM mailqueue.health_of_traces()")
    return row


async def test_an_installation_that_exports_no_traces_is_advised_nothing(conn: Conn) -> None:
    assert await traces(conn) == ("ok", "no traces were exported", None)


async def test_an_export_that_is_late_names_its_error_and_the_collector(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.trace_export (exported_to, horizon, holder, lease_until, last_error)"
        " VALUES (now() - interval '20 min', now(), gen_random_uuid(), now() + interval '1 min',"
        " 'it answered 500')"
    )

    state, found, fix = await traces(conn)

    assert (state, found.endswith("it answered 500")) == ("warning", True)
    assert fix is not None
    assert "MAILQUEUE_TRACES_URL" in fix

"""API keys: shown once, found by their hash, refused when not valid."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from mailqueue.admin import revoking
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.projects.actor import acting
from mailqueue.projects.keys.manage import find_key, issue_key, list_keys, revoke_key
from mailqueue.projects.model import Caller
from tests import make
from tests.rules.source import ROOT

pytestmark = pytest.mark.anyio


async def test_a_key_finds_its_project(conn: Conn) -> None:
    await make.project(conn, "shop")
    issued = await issue_key(conn, "shop", "web", is_test=False)

    caller = await find_key(conn, issued.key.reveal())

    assert caller is not None
    assert (caller.id, caller.project, caller.is_test) == (issued.record.id, "shop", False)
    assert caller.trap_sender is None


async def test_a_test_key_knows_the_trap_of_its_project(conn: Conn) -> None:
    project_id = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=project_id, name="relay")
    await make.sender_account(conn, project_id=project_id, name="pit", provider="trap")
    issued = await issue_key(conn, "shop", "web", is_test=True)

    caller = await find_key(conn, issued.key.reveal())

    assert caller is not None
    assert (caller.is_test, caller.trap_sender) == (True, "pit")


async def test_the_key_itself_is_nowhere_in_the_database(conn: Conn) -> None:
    issued = await issue_key(conn, "default", "web", is_test=True)

    row = await make.scalar(
        conn, "SELECT to_json(k)::text FROM mailqueue.api_keys AS k WHERE id = %s", issued.record.id
    )

    assert issued.key.reveal() not in row
    assert issued.key.reveal()[8:] not in row


async def test_a_project_has_a_thousand_valid_keys_and_no_more(conn: Conn) -> None:
    await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.api_keys (project_id, name, key_hash, hint, is_test, scopes,"
        " expires_at) SELECT p.id, 'key ' || n, sha256(n::text::bytea), 'mq_test_x', true,"
        " ARRAY['project:read'],"
        " CASE WHEN n > 1000 THEN now() - interval '1 s' END"
        " FROM mailqueue.projects AS p, generate_series(1, 1100) AS n WHERE p.name = 'shop'"
    )
    with pytest.raises(InvalidField, match="has 1000 valid keys") as refused:
        async with conn.transaction():
            await issue_key(conn, "shop", "web", is_test=True)
    await issue_key(conn, "default", "web", is_test=True)
    await revoke_key(conn, "shop", "key 7")
    await issue_key(conn, "shop", "web", is_test=True)

    assert refused.value.field == "name"


async def test_revoked_and_expired_keys_are_refused(conn: Conn) -> None:
    revoked = await issue_key(conn, "default", "old", is_test=True)
    await revoke_key(conn, "default", "old")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    expired = await issue_key(conn, "default", "short", is_test=True, expires_at=yesterday)

    assert await find_key(conn, revoked.key.reveal()) is None
    assert await find_key(conn, expired.key.reveal()) is None
    assert await find_key(conn, "mq_test_" + "0" * 49) is None
    assert await find_key(conn, "") is None
    with pytest.raises(NotFound):
        await revoke_key(conn, "default", "old")


async def test_a_use_is_noted_once_a_minute(conn: Conn) -> None:
    issued = await issue_key(conn, "default", "web", is_test=True)

    await find_key(conn, issued.key.reveal())
    (first,) = [key for key in await list_keys(conn, "default") if key.name == "web"]
    await find_key(conn, issued.key.reveal())
    (second,) = [key for key in await list_keys(conn, "default") if key.name == "web"]

    assert first.last_used_at is not None
    assert second.last_used_at == first.last_used_at


async def test_what_cannot_be_issued_is_refused_by_name(conn: Conn) -> None:
    await issue_key(conn, "default", "web", is_test=True)

    with pytest.raises(NotFound, match="no project nowhere"):
        await issue_key(conn, "nowhere", "web", is_test=True)
    for name in ("", " ", "x" * 101, "a\nb"):
        with pytest.raises(InvalidField, match="name"):
            await issue_key(conn, "default", name, is_test=True)
    with pytest.raises(Conflict, match="web"):
        async with conn.transaction():
            await issue_key(conn, "default", "web", is_test=True)


def test_requests_of_test_keys_are_counted_apart_from_those_of_live_keys() -> None:
    """Test keys, however many requests they make, leave the live keys their whole rate."""
    project = uuid4()
    live = Caller(uuid4(), project, "shop", is_test=False, trap_sender=None)
    test = Caller(uuid4(), project, "shop", is_test=True, trap_sender="pit")
    twin = Caller(uuid4(), project, "shop", is_test=True, trap_sender="pit")

    assert live.project_bucket == project
    assert test.project_bucket == twin.project_bucket != project


async def test_a_revoked_key_names_who_revoked_it_whatever_the_way(conn: Conn) -> None:
    await make.project(conn, "shop")
    for name in ("one", "incident", "deleted", "expired"):
        at = datetime.now(UTC) - timedelta(days=1) if name == "expired" else None
        await issue_key(conn, "shop", name, is_test=False, expires_at=at)
    async with acting(conn, by="ann (console)"):
        await revoke_key(conn, "shop", "one", reason="lost")
    incident = await make.scalar(
        conn, "SELECT hint FROM mailqueue.api_keys WHERE name = 'incident'"
    )
    await revoking.revoke(conn, by="ben", reason="stolen", prefix=incident)
    await conn.execute("SELECT mailqueue.expire_api_keys('maintenance')")
    await projects_manage.delete(conn, "shop", by="cem")

    by_name = {key.name: key.revoked_by for key in await list_keys(conn, "shop")}
    assert by_name == {
        "one": "ann (console)",
        "incident": "ben",
        "deleted": "cem",
        "expired": None,
    }


async def test_keys_revoked_by_an_earlier_release_name_who_the_audit_log_names(conn: Conn) -> None:
    for name in ("one", "incident", "active"):
        await issue_key(conn, "default", name, is_test=False)
    async with acting(conn, by="ann (console)"):
        await revoke_key(conn, "default", "one")
    incident = await make.scalar(
        conn, "SELECT hint FROM mailqueue.api_keys WHERE name = 'incident'"
    )
    await conn.execute("UPDATE mailqueue.api_keys SET revoked_at = now() WHERE name = 'incident'")
    await make.inserted(
        conn,
        "audit_events",
        {
            "project_id": await make.project_named(conn),
            "actor": "ben",
            "action": "api_key.revoked",
            "subject": "api key incident",
            "detail": {"hint": incident},
        },
    )
    await conn.execute("UPDATE mailqueue.api_keys SET revoked_by = NULL")
    (migration,) = (ROOT / "sql/migrations").glob("*_key_revoked_by.sql")
    statement = migration.read_text("utf-8").partition("UPDATE ")[2]

    await conn.execute(f"UPDATE {statement}".encode())

    by_name = {key.name: key.revoked_by for key in await list_keys(conn, "default")}
    assert by_name == {"one": "ann (console)", "incident": "ben", "active": None}

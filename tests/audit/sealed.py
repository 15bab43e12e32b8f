"""A sealed audit log, and what an owner of the table can do to it."""

import asyncio
from urllib.parse import urlsplit

from mailqueue.audit import seal
from mailqueue.audit.seal import SealedRows
from mailqueue.audit.verify import verify
from mailqueue.contract.operations import AuditVerification
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.vault.sealed import FIRST


async def add(conn: Conn, *subjects: str) -> list[int]:
    """Add rows to the log; return their ids."""
    return [
        await make.scalar(
            conn,
            "INSERT INTO mailqueue.audit_events (action, subject, detail)"
            " VALUES ('limit.changed', %s, '{\"to\": 5}') RETURNING id",
            subject,
        )
        for subject in subjects
    ]


async def call_with_retries() -> None:
    """Take no lease: nothing else seals."""
    await asyncio.sleep(0)


async def sealed(conn: Conn, master: MasterKey = FIRST) -> SealedRows:
    """Seal the log."""
    return await seal.seal(conn, master, call_with_retries=call_with_retries)


async def cut(conn: Conn, master: MasterKey = FIRST) -> int:
    """Delete rows past their retention."""
    return await seal.cut(conn, conn, master, call_with_retries=call_with_retries, by="tests")


async def verified(
    conn: Conn, master: MasterKey = FIRST, *, known_head: str | None = None
) -> AuditVerification:
    """Verify the log."""
    return await verify(conn, master, known_head=known_head)


async def by_owner(conn: Conn, *statements: str) -> None:
    """Run statements as the schema's owner, with the triggers of the log disabled."""
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    tables = ("audit_events", "audit_seals")
    for table in tables:
        await conn.execute(f"ALTER TABLE mailqueue.{table} DISABLE TRIGGER USER".encode())
    for statement in statements:
        changed = await conn.execute(statement.encode())
        assert changed.rowcount > 0, statement
    for table in tables:
        await conn.execute(f"ALTER TABLE mailqueue.{table} ENABLE TRIGGER USER".encode())
    await conn.execute("RESET ROLE")


async def older(conn: Conn, ids: list[int], days: int = 40) -> None:
    """Move rows into the past, before they are sealed."""
    listed = ", ".join(map(str, ids))
    await by_owner(
        conn,
        f"UPDATE mailqueue.audit_events SET occurred_at = occurred_at - interval '{days} days'"
        f" WHERE id IN ({listed})",
    )


def name_of(url: str) -> str:
    """Return the name of the database of a connection string."""
    return urlsplit(url).path.removeprefix("/")

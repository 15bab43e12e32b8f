"""Inserts a row with an address in every text column of every table."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from mailqueue.db.fetch import Conn
from tests import make

ANN = "ann@example.com"
# What is one address and nothing else where it is anything.
ADDRESSES = {"address", "email", "recipient_email"}
_COLUMNS = """
    SELECT a.attname::text, t.typname::text, a.attnotnull, a.atthasdef, a.attidentity = 'a'
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = ('mailqueue.' || %s)::regclass AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum
"""
_MADE_BY_US = {("attachments", "location")}  # project, hash and number
_TALES = "Ann wrote <ANN@example.com>, see https://x.example/?to=ann%40example.com"
_VALUE_BY_TYPE: Mapping[str, object] = {
    "text": _TALES,
    "varchar": _TALES,
    "_text": [_TALES, "nothing"],
    "json": '{"said": ["' + _TALES + '"], "ann\\u0040example.com": 1}',
    "jsonb": '{"said": ["' + _TALES + '\\nann@example.com"]}',
    "bytea": b"To: Ann@Example.Com\r\n\r\n\xc3\xbcann@example.com \x00",
    "uuid": "01900000-0000-7000-8000-000000000001",
    "bool": False,
    "inet": "192.0.2.1",
}


async def let_anything_in(conn: Conn) -> None:
    """Drop the checks, foreign keys, triggers and unique indexes that would refuse such rows."""
    for (index,) in await make.rows(
        conn,
        "SELECT i.indexrelid::regclass::text FROM pg_index AS i"
        " JOIN pg_class AS c ON c.oid = i.indrelid"
        " WHERE c.relnamespace = 'mailqueue'::regnamespace AND i.indisunique"
        " AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)",
    ):
        await conn.execute(f"DROP INDEX {index}".encode())
    for table, name in await make.rows(
        conn,
        "SELECT c.conrelid::regclass::text, quote_ident(c.conname) FROM pg_constraint AS c"
        " WHERE c.connamespace = 'mailqueue'::regnamespace AND c.contype IN ('c', 'f')"
        " AND c.conislocal AND c.conparentid = 0 ORDER BY c.contype DESC",
    ):
        await conn.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}".encode())
    for table, name in await make.rows(
        conn,
        "SELECT t.tgrelid::regclass::text, quote_ident(t.tgname) FROM pg_trigger AS t"
        " JOIN pg_class AS c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND t.tgparentid = 0"
        " AND c.relnamespace = 'mailqueue'::regnamespace",
    ):
        await conn.execute(f"DROP TRIGGER {name} ON {table}".encode())


async def tables_of(conn: Conn) -> list[str]:
    """Return the tables of records with any text column, without partitions."""
    found = await make.rows(
        conn,
        "SELECT c.relname::text FROM pg_class AS c"
        " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')"
        " AND NOT c.relispartition AND mailqueue.privacy_action(c.relname::text) <> 'tell'"
        " AND EXISTS (SELECT FROM mailqueue.text_columns(c.oid)) ORDER BY 1",
    )
    return [name for (name,) in found]


async def plant(conn: Conn, project_id: UUID) -> set[tuple[str, str]]:
    """Insert a row into each table; return the columns that contain ANN now."""
    planted = set()
    account = await make.sender_account(conn, project_id=project_id)
    for table in await tables_of(conn):
        values: dict[str, object] = {}
        for name, kind, is_needed, has_default, _ in await make.rows(conn, _COLUMNS, table):
            if name == "project_id":
                values[name] = project_id
            elif name == "sender_account_id":
                values[name] = account
            elif (table, name) in _MADE_BY_US:
                continue
            elif kind in ("text", "varchar", "_text", "json", "jsonb", "bytea"):
                values[name] = ANN if name in ADDRESSES else _VALUE_BY_TYPE[kind]
                planted.add((table, name))
            elif is_needed and not has_default:
                values[name] = _VALUE_BY_TYPE.get(kind, _later(kind))
        names = ", ".join(values)
        slots = ", ".join(["%s"] * len(values))
        insert = f"INSERT INTO mailqueue.{table} ({names}) OVERRIDING SYSTEM VALUE"
        await conn.execute(f"{insert} VALUES ({slots})".encode(), list(values.values()))
    return planted


def _later(kind: str) -> object:
    if kind.startswith("_"):
        return "{}"
    return "today" if kind in ("date", "timestamptz", "timestamp") else 9_000


async def naming(conn: Conn) -> set[tuple[str, str]]:
    """Return the columns that contain ANN, without settings."""
    found = set()
    for table in await tables_of(conn):
        for name, kind, *_ in await make.rows(conn, _COLUMNS, table):
            text = f"encode({name}, 'escape')" if kind == "bytea" else f"{name}::text"
            if await make.scalar(
                conn,
                f"SELECT EXISTS (SELECT FROM mailqueue.{table}"
                f" WHERE {text} ~* 'ann(@|%%40|.u0040)example')",
            ):
                found.add((table, name))
    return found


def in_files(folder: Path) -> list[str]:
    """Return the lines of archive files, and other files, that contain ANN."""
    found = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        octets = path.read_bytes()
        text = gzip.decompress(octets) if path.suffix == ".gz" else octets
        found += [line for line in text.decode("latin-1").splitlines() if ANN in line.lower()]
    return found

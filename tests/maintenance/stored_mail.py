"""Reads what is stored: in tables, in archive files, in the books."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mailqueue.db.fetch import Conn
from tests import make

TABLES = ("email_history", "send_logs", "email_events", "email_contents", "email_recipients")


async def in_tables(conn: Conn) -> dict[str, int]:
    """Return the number of rows in each table that is archived."""
    return {
        table: await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}")
        for table in TABLES
    }


async def everything(conn: Conn) -> dict[str, set[str]]:
    """Return every row of the archived tables, as text, by table."""
    found = {}
    for table in TABLES:
        rows = await make.rows(conn, f"SELECT to_jsonb(t)::text FROM mailqueue.{table} AS t")
        found[table] = {row[0] for row in rows}
        assert len(found[table]) == len(rows), f"{table} has a row twice"
    return found


def lines(folder: Path) -> Counter[str]:
    """Return every record of every file, with its number of occurrences."""
    return sum((lines_of(path) for path in files(folder)), Counter[str]())


def lines_of(path: Path) -> Counter[str]:
    """Return every record of a file."""
    return Counter(_lines(path)[1:])


def records(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return the records of a kind."""
    paths = [path for path in files(folder) if f"/{kind}/" in str(path)]
    return [json.loads(line) for path in paths for line in _lines(path)[1:]]


def files(folder: Path) -> list[Path]:
    """Return the files of a store, without drafts."""
    found = folder.rglob("*.jsonl.gz")
    return sorted(path for path in found if ".drafts" not in path.parts)


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


async def differences(conn: Conn) -> list[int]:
    """Return the differences in the books; an empty list if there are none."""
    rows = await make.rows(conn, "SELECT difference FROM mailqueue.books WHERE difference <> 0")
    return [row[0] for row in rows]


async def states(conn: Conn) -> Counter[str]:
    """Return the number of files in the manifest by state."""
    return Counter(row[0] for row in await make.rows(conn, "SELECT state FROM mailqueue.archives"))


def spoil(folder: Path) -> None:
    """Put a file in place of a folder."""
    folder.write_text("in the way")


FAULTS = ("flipped", "cut", "missing", "another")


@contextmanager
def damaged(path: Path, fault: str, *, other: Path) -> Iterator[None]:
    """Damage a file during the block."""
    octets = path.read_bytes()
    damage(path, fault, other=other)
    try:
        yield
    finally:
        path.write_bytes(octets)


def damage(path: Path, fault: str, *, other: Path) -> None:
    """Damage a file in one of several ways."""
    octets = path.read_bytes()
    middle = len(octets) // 2
    match fault:
        case "flipped":
            path.write_bytes(octets[:middle] + bytes([octets[middle] ^ 1]) + octets[middle + 1 :])
        case "cut":
            path.write_bytes(octets[:middle])
        case "missing":
            path.unlink()
        case _:
            path.write_bytes(other.read_bytes())


def fill(path: Path, octets: bytes) -> None:
    """Write a file with these bytes."""
    path.write_bytes(octets)

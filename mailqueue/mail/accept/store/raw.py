"""SQL that accepts finished messages."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.mail import raw as sql
from mailqueue.mail.model import BatchRow


async def accept(
    conn: Conn,
    project: str,
    documents: Sequence[Mapping[str, object]],
    octets: Sequence[bytes],
    *,
    keys: Collection[UUID],
) -> list[BatchRow]:
    """Accept messages while keys are valid, all or none; return one row each, in order.

    InvalidField names an invalid field.
    """
    asked = {
        "project": project,
        "keys": list(keys) or None,
        "documents": Jsonb(list(documents)),
        "octets": list(octets),
    }
    with refusals():
        return await fetch.many(conn, sql.ACCEPT_RAW, asked, BatchRow)

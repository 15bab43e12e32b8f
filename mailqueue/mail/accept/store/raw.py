"""SQL that accepts finished messages."""

from collections.abc import Mapping, Sequence

from psycopg.types.json import Jsonb

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.mail.model import BatchRow


async def accept(
    conn: Conn, project: str, documents: Sequence[Mapping[str, object]], octets: Sequence[bytes]
) -> list[BatchRow]:
    """Accept messages, all or none; return one row each, in order. InvalidField names an invalid
    field.
    """
    asked = {"project": project, "documents": Jsonb(list(documents)), "octets": list(octets)}
    with refusals():
        return await fetch.many(conn, "accept_raw", asked, BatchRow)

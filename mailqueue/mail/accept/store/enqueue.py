"""SQL that accepts mail."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.emails import api as api_sql
from mailqueue.db.statements.mail import batches as batches_sql
from mailqueue.db.statements.mail import enqueue as enqueue_sql
from mailqueue.mail.model import BatchRow


async def enqueue_batch(
    conn: Conn,
    project: str,
    messages: Sequence[Mapping[str, object]],
    *,
    keys: Collection[UUID] = (),
) -> list[BatchRow]:
    """Accept many mails while keys are valid; return one row each, in order."""
    asked = {
        "project": project,
        "keys": list(keys) or None,
        "messages": Jsonb([with_wire_domains(one) for one in messages]),
    }
    with refusals():
        return await fetch.many(conn, enqueue_sql.ENQUEUE_BATCH, asked, BatchRow)


async def find_suppressions(conn: Conn, email_ids: Sequence[UUID]) -> Sequence[str | None]:
    """Return why each mail was suppressed when it was accepted, in order; None: it was not."""
    asked = {"ids": list(email_ids)}
    return await fetch.many(conn, api_sql.FIND_SUPPRESSIONS_AT_ACCEPT, asked, str)


async def try_email(conn: Conn, project: str, message: Mapping[str, object]) -> dict[str, Any]:
    """Accept one mail and roll back; return its stored form."""
    asked = {"project": project, "message": Jsonb(with_wire_domains(message))}
    with refusals():
        return await fetch.value(conn, batches_sql.TRY_EMAIL, asked, dict)

"""Adding and importing of suppressions, and their results, for tests."""

import io
from typing import Any

from mailqueue.contract.suppression import SuppressionOutcome
from mailqueue.db.fetch import Conn
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import new_suppression
from mailqueue.suppression.lists import importing
from mailqueue.suppression.model import ImportTally
from tests import make

ANN = "ann@example.com"


async def added(
    conn: Conn, *emails: str, project: str = "default", **words: Any
) -> list[SuppressionOutcome]:
    wanted = [new_suppression(email, **words) for email in emails]
    return [one.status for one in await entries.add(conn, project, entries=wanted, by="tests")]


async def imported(conn: Conn, content: str, *, is_trial: bool = False) -> ImportTally:
    tally = ImportTally()
    file = io.BytesIO(content.encode())
    await importing.import_list(
        conn, "default", file=file, is_trial=is_trial, by="tests", tally=tally
    )
    return tally


async def audits(conn: Conn, action: str) -> list[tuple[str, str, dict[str, object]]]:
    return await make.rows(
        conn,
        "SELECT actor, subject, detail FROM mailqueue.audit_events WHERE action = %s ORDER BY id",
        action,
    )

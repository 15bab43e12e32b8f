"""SQL of the bounce and complaint rates of sender accounts."""

from collections.abc import Mapping

from psycopg.types.json import Jsonb

from mailqueue.contract.senders import BounceRates
from mailqueue.db.fetch import Conn, many, run
from mailqueue.db.statements.events import events as sql
from mailqueue.senders.model import SenderAccount


async def list_rates(conn: Conn, *, project: str | None, account: int | None) -> list[BounceRates]:
    """Return the rates of accounts, by project and name."""
    return await many(
        conn, sql.LIST_SENDER_RATES, {"project": project, "account": account}, BounceRates
    )


async def set_thresholds(
    conn: Conn,
    account: SenderAccount,
    thresholds: Mapping[str, float],
    *,
    changed: Mapping[str, float],
    by: str,
) -> None:
    """Set all thresholds of an account, with an audit record."""
    await run(conn, sql.SET_SENDER_THRESHOLDS, {"id": account.id, **thresholds})
    params = {
        "project_id": account.project_id,
        "by": by,
        "subject": f"sender {account.name}",
        "detail": Jsonb(dict(changed)),
    }
    await run(conn, sql.NOTE_SENDER_THRESHOLDS, params)

"""SQL of the rates of the installation and of recipient domains."""

from mailqueue.contract.senders import Rate
from mailqueue.db.fetch import Conn, many, run, value
from mailqueue.db.statements.senders import rates as sql


async def set_max_send_rate(conn: Conn, rate: float | None) -> bool:
    """Set the rate of the whole installation; return whether it changed."""
    return await value(conn, sql.SET_MAX_SEND_RATE, {"rate": rate}, bool)


async def set_domain_rate(
    conn: Conn, domain: str, *, rate: float, burst: int | None, note: str | None
) -> None:
    """Set the rate of one recipient domain."""
    asked = {"domain": domain, "rate": rate, "burst": burst, "note": note}
    await run(conn, sql.SET_DOMAIN_RATE, asked)


async def lift_domain_rate(conn: Conn, domain: str) -> bool:
    """Remove the rate of a domain; return whether it had one."""
    return await run(conn, sql.LIFT_DOMAIN_RATE, {"domain": domain}) > 0


async def list_rates(conn: Conn) -> list[Rate]:
    """Return the current rates."""
    return await many(conn, sql.LIST_RATES, None, Rate)

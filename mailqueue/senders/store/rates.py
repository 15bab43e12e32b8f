"""Rates of the whole installation and of recipient domains as rows."""

from mailqueue.db.fetch import Conn, many, run, value
from mailqueue.senders.model import Rate


async def set_max_send_rate(conn: Conn, rate: float | None) -> bool:
    """Put the rate of the whole installation in force; return whether it is another."""
    return await value(conn, "set_max_send_rate", {"rate": rate}, bool)


async def set_domain_rate(
    conn: Conn, domain: str, *, rate: float, burst: int | None, note: str | None
) -> None:
    """Put the rate of one recipient domain in force."""
    asked = {"domain": domain, "rate": rate, "burst": burst, "note": note}
    await run(conn, "set_domain_rate", asked)


async def lift_domain_rate(conn: Conn, domain: str) -> bool:
    """Take a domain's rate away; return whether there was one."""
    return await run(conn, "lift_domain_rate", {"domain": domain}) > 0


async def list_rates(conn: Conn) -> list[Rate]:
    """List the rates in force."""
    return await many(conn, "list_rates", None, Rate)

"""What can be done with the rates that hold for all projects together."""

import re

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.mailboxes import wire_domain
from mailqueue.db.fetch import Conn
from mailqueue.senders import acceptable
from mailqueue.senders.model import Rate
from mailqueue.senders.store import rates as rates_store
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)

_DOMAIN = re.compile(r"[^@|\s\x00-\x1f\x7f]{1,253}")


async def keep_max_send_rate(conn: Conn, rate: float | None) -> None:
    """Hold the whole installation to this many recipients a second; the last to say so wins.

    0 lifts the limit, None leaves what is in force.
    """
    if rate is not None and await rates_store.set_max_send_rate(conn, rate or None):
        log.info("max_send_rate.changed", per_second=rate or None)


async def set_domain_rate(
    conn: Conn, domain: str, *, rate: float, burst: int | None, note: str | None
) -> None:
    """Have a recipient domain written to no faster than this, by everybody together.

    Raises:
        InvalidField: this is no domain, or no rate.
    """
    acceptable.check_rate("rate", rate)
    if burst is not None:
        acceptable.check_range("burst", burst, least=1, most=1_000_000)
    if note is not None:
        acceptable.check_text("note", note)
    await rates_store.set_domain_rate(conn, _checked(domain), rate=rate, burst=burst, note=note)


async def lift_domain_rate(conn: Conn, domain: str) -> None:
    """Let a recipient domain be written to as fast as can be.

    Raises:
        NotFound: it has no rate.
    """
    if not await rates_store.lift_domain_rate(conn, _checked(domain)):
        raise NotFound("rate for domain", domain)


async def list_rates(conn: Conn) -> list[Rate]:
    """List the rates in force, that of the whole installation first."""
    return await rates_store.list_rates(conn)


def _checked(domain: str) -> str:
    name = wire_domain(domain)
    if not _DOMAIN.fullmatch(name):
        raise InvalidField("domain", f"must be a domain such as example.com, got {domain!r}")
    return name

"""Set, remove and list the rates that all projects share."""

import re

from mailqueue.contract.senders import Rate
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.mailboxes import wire_domain
from mailqueue.db.fetch import Conn
from mailqueue.senders import acceptable
from mailqueue.senders.store import rates as rates_store
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)

_DOMAIN = re.compile(r"[^@|\s\x00-\x1f\x7f]{1,253}")


async def keep_max_send_rate(conn: Conn, rate: float | None) -> None:
    """Limit the whole installation to a rate in recipients per second; the last call wins.

    0 removes the limit, None keeps the current one.
    """
    if rate is not None and await rates_store.set_max_send_rate(conn, rate or None):
        log.info("max_send_rate.changed", per_second=rate or None)


async def set_domain_rate(
    conn: Conn, domain: str, *, rate: float, burst: int | None, note: str | None
) -> None:
    """Limit a recipient domain to a rate in recipients per second, over all projects.

    Raises:
        InvalidField: the domain or the rate is invalid.
    """
    acceptable.check_rate("rate", rate)
    if burst is not None:
        acceptable.check_range("burst", burst, minimum=1, maximum=1_000_000)
    if note is not None:
        acceptable.check_text("note", note)
    await rates_store.set_domain_rate(conn, _checked(domain), rate=rate, burst=burst, note=note)


async def lift_domain_rate(conn: Conn, domain: str) -> None:
    """Remove the rate of a recipient domain.

    Raises:
        NotFound: it has no rate.
    """
    if not await rates_store.lift_domain_rate(conn, _checked(domain)):
        raise NotFound("rate for domain", domain)


async def list_rates(conn: Conn) -> list[Rate]:
    """Return the current rates, that of the whole installation first."""
    return await rates_store.list_rates(conn)


def _checked(domain: str) -> str:
    name = wire_domain(domain)
    if not _DOMAIN.fullmatch(name):
        raise InvalidField("domain", f"must be a domain such as example.com, got {domain!r}")
    return name

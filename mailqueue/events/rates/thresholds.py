"""Bounce and complaint rates of sender accounts, and the thresholds that warn and pause."""

from dataclasses import asdict, dataclass

from mailqueue.contract.senders import BounceRates
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.events.rates import store
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderAccount

THRESHOLDS = ("bounce_warn", "bounce_pause", "complaint_warn", "complaint_pause")


@dataclass(frozen=True, slots=True)
class ThresholdsChange:
    """Thresholds in percent, 0 for never; None keeps the current one."""

    bounce_warn: float | None = None
    bounce_pause: float | None = None
    complaint_warn: float | None = None
    complaint_pause: float | None = None


async def list_rates(conn: Conn, *, project: str | None = None) -> list[BounceRates]:
    """Return the rates of accounts, by project and name."""
    return await store.list_rates(conn, project=project, account=None)


async def rates_of(conn: Conn, account: SenderAccount) -> BounceRates:
    """Return the rates of an account.

    Raises:
        NotFound: the account no longer exists.
    """
    for found in await store.list_rates(conn, project=None, account=account.id):
        return found
    raise NotFound("sender account", account.name)


async def set_thresholds(
    conn: Conn, account: SenderAccount, *, change: ThresholdsChange, by: str
) -> BounceRates:
    """Change the thresholds of an account.

    Raises:
        InvalidField: a threshold is not a percentage, or the one that pauses is below the one that
            warns.
        NotFound: the account no longer exists.
    """
    named = {name: value for name, value in asdict(change).items() if value is not None}
    for name, value in named.items():
        if not 0 <= value <= 100:
            raise InvalidField(name, f"must be 0 to 100 percent, got {value}")
    async with conn.transaction():
        await accounts.lock(conn, account)
        before = await rates_of(conn, account)
        after = {name: named.get(name, getattr(before, name)) for name in THRESHOLDS}
        for kind in ("bounce", "complaint"):
            warn, pause = after[f"{kind}_warn"], after[f"{kind}_pause"]
            if pause and warn > pause:
                raise InvalidField(f"{kind}_warn", f"must be at most {kind}_pause, {pause:g}")
        await store.set_thresholds(conn, account, after, changed=named, by=by)
        return await rates_of(conn, account)

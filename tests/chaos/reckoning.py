"""Whether every mail is where it should be: the sink's ledger against the books of the queue."""

from collections import Counter
from dataclasses import dataclass, field

from mailqueue.db.fetch import Conn
from tests import make
from tests.chaos.producing import recipient
from tests.chaos.sinking import Ledger

_RESERVED = """
SELECT coalesce(sum(c.reserved), 0)
  FROM (SELECT DISTINCT ON (limit_id) reserved FROM mailqueue.limit_counters
         ORDER BY limit_id, rev DESC) AS c
"""
_SPENT = "SELECT coalesce(sum(sent), 0) FROM mailqueue.sender_account_days"
_TWICE = "SELECT count(*) FROM mailqueue.email_queue JOIN mailqueue.email_history USING (id)"
_EVERYWHERE = """
SELECT recipient_email, status FROM mailqueue.email_queue
UNION ALL SELECT recipient_email, status FROM mailqueue.email_history
"""
_LISTED = "SELECT count(*) FROM mailqueue.held WHERE reason ^@ 'outcome_unknown'"


@dataclass(slots=True)
class Reckoning:
    """What one scenario did and found; `broken` says in words which promises do not hold."""

    scenario: str
    fault: str
    struck: int
    accepted: int
    statuses: Counter[str] = field(default_factory=Counter)
    delivered: int = 0
    lost: int = 0
    duplicated: int = 0
    unknown: int = 0
    seconds: float = 0.0
    left_out: str = ""  # why the scenario did not run
    broken: list[str] = field(default_factory=list)

    def promise(self, holds: bool, words: str) -> None:
        if not holds:
            self.broken.append(words)


async def reckon(
    conn: Conn, ledger: Ledger, *, scenario: str, fault: str, struck: int, accepted: int
) -> Reckoning:
    """Compare, and hold what is promised whatever happens."""
    found = Reckoning(scenario, fault, struck, accepted)
    place_by_recipient: dict[str, str] = {}
    for address, status in await make.rows(conn, _EVERYWHERE):
        found.statuses[status] += 1
        found.promise(address not in place_by_recipient, f"{address} was accepted twice")
        place_by_recipient[address] = status
    wanted = {recipient(number) for number in range(accepted)}
    sent = {address for address, status in place_by_recipient.items() if status == "sent"}
    found.delivered = len(ledger.taken)
    found.lost = len(wanted - place_by_recipient.keys()) + len(sent - ledger.taken.keys())
    found.duplicated = ledger.taken.total() - len(ledger.taken)
    found.unknown = await make.scalar(conn, _LISTED)
    _hold_always(found, ledger, place_by_recipient, wanted)
    await _hold_books(conn, found, ledger)
    return found


def _hold_always(
    found: Reckoning, ledger: Ledger, place_by_recipient: dict[str, str], wanted: set[str]
) -> None:
    found.promise(found.struck > 0, "the fault never struck")
    found.promise(found.lost == 0, f"{found.lost} mails were lost")
    strangers = place_by_recipient.keys() - wanted
    found.promise(not strangers, f"{len(strangers)} mails came from nowhere")
    most = max(ledger.taken.values(), default=0)
    found.promise(most <= 2, f"{most} copies of one mail were sent")
    ids = [message_id for each in ledger.ids_by_recipient.values() for message_id in each]
    found.promise(
        len(ids) == len(set(ids)) == len(ledger.ids_by_recipient),
        "copies of a mail do not share its Message-ID, or mails share one",
    )
    unsettled = found.statuses["pending"] + found.statuses["assigned"]
    found.promise(unsettled == 0, f"{unsettled} mails were never settled")
    found.promise(
        found.unknown == found.statuses["held"],
        f"{found.statuses['held']} mails are held, {found.unknown} listed as unknown",
    )
    known = {a for a in ledger.taken if place_by_recipient.get(a) not in ("sent", "held")}
    found.promise(not known, f"{len(known)} mails were delivered and are not recorded as sent")


async def _hold_books(conn: Conn, found: Reckoning, ledger: Ledger) -> None:
    books = "SELECT coalesce(sum(abs(difference)), 0) FROM mailqueue.books"
    difference = await make.scalar(conn, books)
    found.promise(difference == 0, f"the books do not add up by {difference}")
    twice = await make.scalar(conn, _TWICE)
    found.promise(twice == 0, f"{twice} mails are in two places")
    reserved = await make.scalar(conn, _RESERVED)
    found.promise(reserved == 0, f"{reserved} places are still reserved")
    spent = await make.scalar(conn, _SPENT)
    copies = ledger.taken.total()
    found.promise(spent >= copies, f"{copies} copies were sent and {spent} counted")

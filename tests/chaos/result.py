"""Compares the sink's ledger with the books of the queue: every mail has its outcome, once."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest

from mailqueue.db.fetch import Conn
from tests import make
from tests.chaos.addresses import number_of
from tests.chaos.sink.process import Ledger

_RESERVED = """
SELECT coalesce(sum(c.reserved), 0)
  FROM (SELECT DISTINCT ON (limit_id) reserved FROM mailqueue.limit_counters
         ORDER BY limit_id, rev DESC) AS c
"""
_SPENT = "SELECT coalesce(sum(sent), 0) FROM mailqueue.sender_account_days"
_TWICE = "SELECT count(*) FROM mailqueue.email_queue JOIN mailqueue.email_history USING (id)"
_EVERYWHERE = b"""
SELECT recipient_email, status FROM mailqueue.email_queue
UNION ALL SELECT recipient_email, status FROM mailqueue.email_history
"""
_LISTED = "SELECT count(*) FROM mailqueue.held WHERE reason ^@ 'outcome_unknown'"


@dataclass(slots=True)
class ScenarioResult:
    """Result of one scenario; `broken` lists the promises that do not hold, in words.

    `unproved` lists the conditions that did not occur, without which the run proves nothing.
    """

    scenario: str
    fault: str
    faults: int
    accepted: int
    statuses: Counter[str] = field(default_factory=Counter)
    delivered: int = 0
    lost: int = 0
    duplicated: int = 0
    unknown: int = 0
    seconds: float = 0.0
    left_out: str = ""  # why the scenario did not run
    broken: list[str] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)

    def promise(self, holds: bool, words: str) -> None:
        if not holds:
            self.broken.append(words)

    def prove(self, holds: bool, words: str) -> None:
        if not holds:
            self.unproved.append(words)

    def add(self, other: "ScenarioResult") -> None:
        """Add the result of another part of the scenario."""
        self.statuses += other.statuses
        for name in ("faults", "accepted", "delivered", "lost", "duplicated", "unknown"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.broken += other.broken
        self.unproved += other.unproved


async def compare(
    conn: Conn, ledger: Ledger, *, scenario: str, fault: str, faults: int, accepted: int
) -> ScenarioResult:
    """Compare ledger and books; check the promises that hold in every scenario."""
    found = ScenarioResult(scenario, fault, faults, accepted)
    places = await _places(conn, found)
    found.lost = sum(
        place is None or (place == "sent" and not copies)
        for place, copies in zip_longest(places, ledger.copies[: len(places)], fillvalue=0)
    )
    found.delivered = ledger.delivered
    found.duplicated = sum(ledger.copies) - found.delivered
    found.unknown = await make.scalar(conn, _LISTED)
    _check_mails(found, ledger, places)
    await _check_books(conn, found, ledger)
    return found


async def _places(conn: Conn, found: ScenarioResult) -> list[str | None]:
    """Return the status of every mail by its number; None for a mail that is in no table."""
    places: list[str | None] = [None] * found.accepted
    unknown = twice = 0
    async with conn.transaction(), conn.cursor(name="everywhere") as cursor:
        cursor.itersize = 10_000
        await cursor.execute(_EVERYWHERE)
        async for address, status in cursor:
            number = number_of(address)
            found.statuses[status] += 1
            if number >= found.accepted:
                unknown += 1
                continue
            twice += places[number] is not None
            places[number] = sys.intern(status)
    found.promise(twice == 0, f"{twice} mails were accepted twice")
    found.promise(unknown == 0, f"{unknown} mails were never accepted")
    return places


def _check_mails(found: ScenarioResult, ledger: Ledger, places: list[str | None]) -> None:
    found.prove(found.faults > 0, "the fault never faults")
    found.promise(found.lost == 0, f"{found.lost} mails were lost")
    most = max(ledger.copies, default=0)
    found.promise(most <= 2, f"{most} copies of one mail were sent")
    ids = [identity for identity in ledger.ids if identity]
    found.promise(
        ledger.renamed == 0 and len(ids) == len(set(ids)),
        "copies of a mail do not share its Message-ID, or mails share one",
    )
    unsettled = found.statuses["pending"] + found.statuses["assigned"]
    found.promise(unsettled == 0, f"{unsettled} mails were never settled")
    found.promise(
        found.unknown == found.statuses["held"],
        f"{found.statuses['held']} mails are held, {found.unknown} listed as unknown",
    )
    known = sum(
        bool(copies) and place not in ("sent", "held")
        for place, copies in zip_longest(places, ledger.copies)
    )
    found.promise(known == 0, f"{known} mails were delivered and are not recorded as sent")


async def _check_books(conn: Conn, found: ScenarioResult, ledger: Ledger) -> None:
    books = "SELECT coalesce(sum(abs(difference)), 0) FROM mailqueue.books"
    difference = await make.scalar(conn, books)
    found.promise(difference == 0, f"the books do not add up by {difference}")
    twice = await make.scalar(conn, _TWICE)
    found.promise(twice == 0, f"{twice} mails are both in the queue and in history")
    reserved = await make.scalar(conn, _RESERVED)
    found.promise(reserved == 0, f"{reserved} recipients are still reserved")
    spent = await make.scalar(conn, _SPENT)
    copies = sum(ledger.copies)
    found.promise(spent >= copies, f"{copies} copies were sent and {spent} counted")

"""The handler of queue `inboxes`: scan an inbox, and record its new mail with the end of the scan.

A worker that dies before the commit has recorded nothing: the mail is found again. After the commit
the cursor is behind it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import ConfigError, Locked, SealBroken
from mailqueue.core.outcome import Again, Defer, Failed, Outcome, Retry
from mailqueue.db.fetch import Conn
from mailqueue.ports.mailbox import (
    FolderCursor,
    MailboxAccess,
    MailboxReader,
    MailboxScan,
    MailboxTls,
    NewMail,
    ScanFault,
)
from mailqueue.queue.handler import Handler
from mailqueue.vault.masterkey import MasterKey
from mailqueue.watch import secrets
from mailqueue.watch.matching import ActiveRule, first_match
from mailqueue.watch.model import ClaimedMailbox, GivenUp, MailboxRow, Scanned, ScanPlan
from mailqueue.watch.reading import key_of, read_mail
from mailqueue.watch.store import work as store

REFUSED_WAITS = tuple(timedelta(seconds=seconds) for seconds in (30, 120, 480))
"""Waits after a refused login; after the last one the inbox is scanned no more."""
MAX_SILENCE = timedelta(days=1)
"""Time without a scan after which an inbox whose server does not answer is scanned no more. It
begins anew when a person resumes or reconnects the inbox."""
MIN_SILENT = 8
"""Failed scans in a row before that, which take 45 minutes: workers may have been stopped."""
CLOCK_SLACK = timedelta(minutes=2)
"""Mail that is older than the last scan that read all by more than this was moved, and did not
arrive."""
SECRET_WAIT = timedelta(minutes=5)
"""Wait while a password cannot be opened here."""
CHECK_WAIT = timedelta(days=1)
"""Time after which the login of a paused inbox is checked again."""
CHECK_RETRY = timedelta(hours=1)
"""Wait of such a check that its server did not answer."""
NOW = timedelta(0)


@dataclass(frozen=True, slots=True)
class ScanTools:
    """The adapters that the handler uses: a reader for each provider."""

    readers: Mapping[str, MailboxReader]
    read_master: Callable[[], MasterKey | None]


class ScanHandler(Handler[ClaimedMailbox, Scanned | GivenUp]):
    """Scans inboxes; what was found is recorded in the transaction that settles the row."""

    row = ClaimedMailbox

    def __init__(self, tools: ScanTools) -> None:
        self._tools = tools

    async def load(self, conn: Conn, rows: Sequence[ClaimedMailbox]) -> Sequence[ClaimedMailbox]:
        found = {one.id: one for one in await store.read_mailboxes(conn, [row.id for row in rows])}
        rules = await store.read_rules(conn, [row.user_id for row in rows])
        return [
            row._replace(
                plan=await self._plan(conn, found[row.id], rules.get(row.user_id, []))
                if row.id in found
                else None
            )
            for row in rows
        ]

    async def handle(self, row: ClaimedMailbox) -> Outcome | Scanned | GivenUp:
        plan = row.plan
        if plan is None:
            return Failed("the inbox was removed")
        if plan.access is None:
            return Defer(plan.fault, SECRET_WAIT)
        box = plan.mailbox
        reader = self._tools.readers.get(box.provider)
        if reader is None:
            return Defer(f"this worker has no settings of {box.provider}", SECRET_WAIT)
        if box.is_paused:
            return await _checked(reader, box, plan.access)
        since = None if box.caught_up_at is None else box.caught_up_at - CLOCK_SLACK
        found = await reader.scan(plan.access, cursors_of(box.cursor), since=since)
        reach("inboxes.scanned")
        if isinstance(found, ScanFault):
            return _after_fault(box, row.attempts, found)
        wait = NOW if found.has_more else timedelta(seconds=box.scan_seconds)
        caught_up = None if found.has_more else box.now
        return Scanned(found, _reported(plan, found), wait, caught_up)

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedMailbox, Scanned | GivenUp]]
    ) -> Sequence[Outcome]:
        outcomes: dict[Any, Outcome] = {}
        # In one order everywhere, as scans of one person's inboxes lock the same rows.
        for row, work in sorted(done, key=lambda each: (each[0].user_id, each[0].id)):
            if isinstance(work, GivenUp):
                await store.notify_of_lost(conn, row.id, row.claim_no, reason=work.reason)
                outcomes[row.id] = Failed(work.reason)
                continue
            await store.record_scan(
                conn,
                row.id,
                row.claim_no,
                cursors=work.scan.cursors,
                mails=work.mails,
                caught_up=work.caught_up,
            )
            if work.scan.push_asked_at is not None:
                await store.note_push(conn, row.id, row.claim_no, at=work.scan.push_asked_at)
            outcomes[row.id] = Again(work.wait)
        return [outcomes[row.id] for row, _ in done]

    def is_answered(self, result: Outcome | Scanned | GivenUp) -> bool:
        return isinstance(result, Scanned | Again)

    async def close(self) -> None:
        for reader in self._tools.readers.values():
            reader.close()

    async def _plan(self, conn: Conn, box: MailboxRow, rules: Sequence[ActiveRule]) -> ScanPlan:
        try:
            access = await access_of(conn, box, self._tools.read_master())
        except (ConfigError, Locked, SealBroken) as exc:
            return ScanPlan(box, None, fault=str(exc))
        return ScanPlan(box, access, rules)


async def access_of(conn: Conn, box: MailboxRow, master: MasterKey | None) -> MailboxAccess:
    """Return where an inbox is, with its password opened.

    Raises:
        ConfigError: there is no master key to open with.
        Locked: no access to the project's own key is granted.
        SealBroken: it cannot be opened.
    """
    cell = secrets.password_cell(box.project_id, box.id, box.host, box.port)
    password = await secrets.opened(conn, cell, box.sealed_password, master=master)
    return MailboxAccess(
        box.host,
        box.port,
        MailboxTls(box.tls),
        box.username,
        password,
        box.folders,
        box.push_asked_at,
    )


def cursors_of(stored: Any) -> dict[str, FolderCursor]:
    """Return the cursors of a row; what is not one is a folder that was not scanned. Pure."""
    pairs = stored.items() if isinstance(stored, dict) else ()
    return {
        name: FolderCursor(place[0], place[1])
        for name, place in pairs
        if isinstance(place, list) and [type(each) for each in place] == [int, int]
    }


async def _checked(
    reader: MailboxReader, box: MailboxRow, access: MailboxAccess
) -> Outcome | GivenUp:
    """Log in to a paused inbox: a password or token that no longer works is an error in time.

    Without cursors nothing is read; what asked for pushes a moment ago asks for none.
    """
    found = await reader.scan(replace(access, push_asked_at=box.now), {}, since=None)
    if not isinstance(found, ScanFault):
        return Again(CHECK_WAIT, values={"refusals": 0})
    if found.is_refusal:
        return _after_refusal(box, found)
    return Defer(found.reason, max(found.wait or CHECK_RETRY, CHECK_RETRY))


def _after_refusal(box: MailboxRow, fault: ScanFault) -> Outcome | GivenUp:
    if box.refusals >= len(REFUSED_WAITS):
        return GivenUp(fault.reason)
    return Retry(fault.reason, REFUSED_WAITS[box.refusals], {"refusals": box.refusals + 1})


def _after_fault(box: MailboxRow, attempts: int, fault: ScanFault) -> Outcome | GivenUp:
    if fault.is_refusal:
        return _after_refusal(box, fault)
    if fault.wait is not None:
        return Defer(fault.reason, fault.wait)
    known_at = max(box.last_scanned_at or box.created_at, box.updated_at)
    if attempts >= MIN_SILENT and box.now - known_at > MAX_SILENCE:
        return GivenUp(f"its server has not answered for a day: {fault.reason}")
    return Retry(fault.reason)


def _reported(plan: ScanPlan, scan: MailboxScan) -> list[dict[str, Any]]:
    found = [_mail(plan, mail) for mail in scan.mails]
    return [mail for mail in found if mail is not None]


def _mail(plan: ScanPlan, mail: NewMail) -> dict[str, Any] | None:
    """Return a mail that the rules let pass, as `record_scan` takes it."""
    read = read_mail(mail.octets)
    rule = first_match(plan.rules, sender=read.sender_address, subject=read.subject)
    if plan.rules and rule is None:
        return None
    return {
        "key": str(key_of(mail, plan.mailbox.id, read.message_id)),
        "rule_id": None if rule is None else str(rule.id),
        "received_at": mail.received_at.isoformat(),
        **read._asdict(),
    }

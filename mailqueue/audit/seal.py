"""Seals rows of the audit log, and deletes those past their retention with their seals.

The seals form one chain in the order of sealing. Transactions that add rows take part in none of
this: rows are sealed some time after their commit, by one process at a time.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from mailqueue.audit import store
from mailqueue.audit.codes import AuditCodes
from mailqueue.audit.model import AuditRow, Seal, SealKind
from mailqueue.audit.verify import faults_up_to
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.vault.audit_keys import keys_by_id, sealing_key
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import DataKey

BATCH = 1_000
"""Rows in one transaction."""

Insist = Callable[[], Coroutine[Any, Any, None]]
"""Locks, until the transaction ends, the right to seal; raises LeaseLost if it was lost."""


@dataclass(frozen=True, slots=True)
class SealedRows:
    """Result of one run: rows sealed, rows sealed again, and changes that are not permitted."""

    rows: int
    changes: int
    refused: tuple[str, ...]


async def seal(conn: Conn, master: MasterKey, *, call_with_retries: Insist) -> SealedRows:
    """Seal what was added or changed since the last run.

    Raises:
        ConfigError: the master key does not open the key of the log.
        LeaseLost: another process may be sealing.
    """
    rows = 0
    count = BATCH
    while count == BATCH:
        async with conn.transaction():
            await call_with_retries()
            count = await _rows(conn, master)
        rows += count
        reach("audit.sealed")
    changes, refused, after = 0, list[str](), 0
    while True:
        async with conn.transaction():
            await call_with_retries()
            found = await store.list_changes(conn, after=after, limit=BATCH)
            if not found:
                break
            changes += await _changes(conn, master, found, refused)
        after = found[-1].change_id
    return SealedRows(rows, changes, tuple(dict.fromkeys(refused)))


async def cut(
    conn: Conn, reader: Conn, master: MasterKey, *, call_with_retries: Insist, by: str
) -> int:
    """Delete rows past their retention with their seals; return the number of rows.

    Raises:
        Conflict: one of them does not fit its seal, so that deleting would hide this.
    """
    total = 0
    while (position := await store.find_cut(conn, limit=BATCH)) is not None:
        if faults := await faults_up_to(reader, master, position):
            raise Conflict(
                f"audit rows past their retention are kept: {faults[0]}; see `mailqueue verify`"
            )
        async with conn.transaction():
            await call_with_retries()
            last = await store.find(conn, position)
            key = await sealing_key(conn, master)
            stands = replace(
                last,
                kind=SealKind.CUT.value,
                event_id=None,
                sealed_at=await store.utc_now(conn),
                key_id=key.id,
                reason=None,
                row_code=last.code,
                skeleton=None,
                addresses=None,
                code=b"",
            )
            total += await store.cut(
                conn, replace(stands, code=AuditCodes(key.key).cut_code(stands)), by=by
            )
        reach("audit.cut")
    return total


class _Chain:
    """Makes the next seals after the newest one."""

    def __init__(self, key: DataKey, last: Seal | None, sealed_at: str) -> None:
        self._key = key
        self._sealed_at = sealed_at
        self._position = 0 if last is None else last.position
        self._before = b"" if last is None else last.chained
        self.codes = AuditCodes(key.key)
        self.settled_id = 0 if last is None else last.settled_id

    def next(self, row: AuditRow, kind: SealKind, *, reason: str | None = None) -> Seal:
        """Return the next seal."""
        self._position += 1
        made = Seal(
            self._position,
            kind.value,
            row.id,
            self.settled_id,
            self._sealed_at,
            self._key.id,
            reason,
            self.codes.row_code(row),
            self.codes.skeleton(row),
            self.codes.addresses(row),
        )
        made = replace(made, code=self.codes.seal_code(made, before=self._before))
        self._before = made.code
        return made


async def _chain(conn: Conn, key: DataKey) -> _Chain:
    return _Chain(key, await store.find_last(conn), await store.utc_now(conn))


async def _rows(conn: Conn, master: MasterKey) -> int:
    """Seal one batch of rows; return their number.

    The newest id is read first, then whether others are writing, then the rows: without writers all
    rows up to that id are committed.
    """
    newest = await store.find_newest_row(conn)
    has_writers = await store.has_writers(conn)
    last = await store.find_last(conn)
    settled_id = 0 if last is None else last.settled_id
    if newest is None or newest <= settled_id:
        return 0
    found = await store.list_rows(conn, after=settled_id, until=newest, limit=BATCH)
    if not found:
        return 0
    chain = await _chain(conn, await sealing_key(conn, master))
    if not has_writers:
        chain.settled_id = found[-1].id if len(found) == BATCH else newest
    await store.add(conn, [chain.next(row, SealKind.ROW) for row in found])
    return len(found)


async def _changes(
    conn: Conn, master: MasterKey, found: list[store.ChangedRow], refused: list[str]
) -> int:
    """Seal changed rows again, each once, unless they changed in a way that is not permitted."""
    chain = await _chain(conn, await sealing_key(conn, master))
    keys = await keys_by_id(conn, master)
    made, done = list[Seal](), list[int]()
    newest = {change.id: change for change in found}
    for change in newest.values():
        before = await store.find(conn, change.seal_position)
        key = keys.get(before.key_id)
        codes = None if key is None else AuditCodes(key)
        if codes is None or not codes.may_become(before, change.row):
            refused.append(f"{change.row} was changed since it was sealed")
            continue
        if codes.row_code(change.row) != before.row_code:
            made.append(chain.next(change.row, SealKind.CHANGE, reason=change.reason))
        done += [each.change_id for each in found if each.id == change.id]
    await store.add(conn, made)
    await store.forget_changes(conn, done)
    return len(made)

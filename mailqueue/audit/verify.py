"""Compares the audit log with its seals, and says which row does not fit."""

import asyncio
import hmac
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.audit import store
from mailqueue.audit.codes import AuditCodes
from mailqueue.audit.model import AuditRow, Seal, SealKind
from mailqueue.contract.operations import AuditVerification
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.vault.audit_keys import keys_by_id
from mailqueue.vault.masterkey import MasterKey

MAX_FAULTS = 100
"""Faults that are reported, the first ones."""
_ROWS_BETWEEN = 50
"""Rows that are compared before other requests of the same process go on: some milliseconds."""


async def verify(
    conn: Conn, master: MasterKey | None, *, known_head: str | None = None
) -> AuditVerification:
    """Compare every row with its seal, in one snapshot.

    `known_head` is the head of an earlier verification, which must still be in the chain.

    Raises:
        InvalidField: `known_head` is not a head.
    """
    known = None if known_head is None else _parsed_head(known_head)
    if not await store.may_verify(conn):
        return _not_verified("this login may not read the seals of the audit log")
    if master is None:
        return _not_verified("no master key is set")
    chain = _Check(await _codes(conn, master), known)
    async with store.seals_and_rows(conn) as lines:
        async for line in lines:
            chain.read(json.loads(line))
            if chain.rows % _ROWS_BETWEEN == 0:
                await asyncio.sleep(0)
    chain.end()
    return AuditVerification(
        sealed=chain.rows,
        changed=chain.changed,
        waiting=chain.waiting,
        deleted_until=chain.deleted_until,
        head=chain.head,
        faults=chain.faults[:MAX_FAULTS],
        why_not=None,
    )


def _not_verified(why: str) -> AuditVerification:
    return AuditVerification(
        sealed=0, changed=0, waiting=0, deleted_until=None, head=None, faults=[], why_not=why
    )


async def faults_up_to(conn: Conn, master: MasterKey, position: int) -> list[str]:
    """Return the faults of seals up to a position, and of their rows."""
    chain = _Check(await _codes(conn, master), None)
    async with store.seals_and_rows(conn, until=position) as lines:
        async for line in lines:
            chain.read(json.loads(line))
    return chain.faults


async def _codes(conn: Conn, master: MasterKey) -> dict[UUID, AuditCodes]:
    keys = await keys_by_id(conn, master)
    return {key_id: AuditCodes(key) for key_id, key in keys.items()}


def _parsed_head(text: str) -> tuple[int, str]:
    position, _, code = text.partition(":")
    if not position.isdecimal() or len(code) != 64:
        raise InvalidField("head", "must be the head of an earlier verification")
    return int(position), code.lower()


@dataclass(slots=True)
class _Check:
    """What was read so far."""

    codes: dict[UUID, AuditCodes]
    known: tuple[int, str] | None
    rows: int = 0
    changed: int = 0
    waiting: int = 0
    deleted_until: datetime | None = None
    head: str | None = None
    faults: list[str] = field(default_factory=list)
    _last: Seal | None = None
    _lost_keys: set[UUID] = field(default_factory=set)

    def read(self, line: dict[str, Any]) -> None:
        """Check a seal with its row, or a row without a seal."""
        row = None if line["row"] is None else AuditRow(**line["row"])
        if line["seal"] is None:
            assert row is not None
            self._unsealed(row)
            return
        seal = seal_of(line["seal"])
        codes = self.codes.get(seal.key_id)
        if codes is None:
            self._lost_key(seal.key_id)
        else:
            self._check_chain(seal, codes)
        if line["is_newest"] and seal.kind != SealKind.CUT:
            self._check_row(seal, codes, row, is_changing=line["is_changing"])
        self.changed += seal.kind == SealKind.CHANGE
        self._last = seal
        self.head = seal.head
        if self.known is not None and self.known[0] == seal.position:
            if not hmac.compare_digest(self.known[1], seal.chained.hex()):
                self._fault(f"seal {seal.position} is another one than the head given")
            self.known = None

    def end(self) -> None:
        """Check what can be known only at the end."""
        if self.known is None:
            return
        position = 0 if self._last is None else self._last.position
        if self.known[0] > position:
            self._fault(f"the seals end at {position}: those up to the head given are missing")

    def _check_chain(self, seal: Seal, codes: AuditCodes) -> None:
        if seal.kind == SealKind.CUT:
            if self._last is not None or not _same(seal.code, codes.cut_code(seal)):
                self._fault(f"seal {seal.position}, which stands for deleted rows, was changed")
            self.deleted_until = seal.time
            return
        expected = 1 if self._last is None else self._last.position + 1
        if seal.position != expected:
            self._fault(f"seals {expected} to {seal.position - 1} are missing")
            return  # without the seal before, the code of this one cannot be computed
        before = b"" if self._last is None else self._last.chained
        if not _same(seal.code, codes.seal_code(seal, before=before)):
            self._fault(f"seal {seal.position} (of row {seal.event_id}) was changed")

    def _check_row(
        self, seal: Seal, codes: AuditCodes | None, row: AuditRow | None, *, is_changing: bool
    ) -> None:
        if row is None:
            self._fault(f"row {seal.event_id}, sealed at {seal.sealed_at[:19]} UTC, was deleted")
            return
        self.rows += 1
        if codes is None or _same(seal.row_code, codes.row_code(row)):
            return
        if is_changing and codes.may_become(seal, row):
            self.waiting += 1
            return
        self._fault(f"{row} was changed since it was sealed")

    def _unsealed(self, row: AuditRow) -> None:
        self.waiting += 1
        if self._last is not None and row.id <= self._last.settled_id:
            self._fault(f"{row} was added between rows that were sealed before")

    def _lost_key(self, key_id: UUID) -> None:
        if key_id not in self._lost_keys:
            self._lost_keys.add(key_id)
            self._fault(
                f"key {key_id} of the seals cannot be opened: the master key is another one, "
                "or the key was changed or deleted"
            )

    def _fault(self, sentence: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(sentence)


def seal_of(found: dict[str, Any]) -> Seal:
    """Return a seal from the JSON of SQL. Pure."""
    octets = {
        name: None if found[name] is None else bytes.fromhex(found[name])
        for name in ("row_code", "skeleton", "addresses", "code")
    }
    return Seal(**(found | octets | {"key_id": UUID(found["key_id"])}))


def _same(stored: bytes, computed: bytes) -> bool:
    return hmac.compare_digest(stored, computed)

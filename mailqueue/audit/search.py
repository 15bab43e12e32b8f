"""Search of the audit log by pages, and one row of it compared with its seal."""

import hmac
import json
from datetime import datetime
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from mailqueue.audit import store
from mailqueue.audit.codes import AuditCodes
from mailqueue.audit.model import AuditPage, AuditRow, AuditSearch, SealCheck, SealState
from mailqueue.audit.verify import seal_of
from mailqueue.contract.projects import AuditEvent
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.vault.audit_keys import keys_by_id
from mailqueue.vault.masterkey import MasterKey

MAX_LOOKED = 50_000
"""Rows that one page of a search looks at; the next page goes on from there."""
MAX_COMPARED = 5_000
"""Newest events whose actions an action that no event has is compared with."""
MAX_SUGGESTED = 3
MIN_SIMILARITY = 0.6
"""Share of common characters, 0 to 1, from which an action is suggested."""


async def search(
    conn: Conn, filters: AuditSearch, *, before: int | None = None, limit: int
) -> AuditPage:
    """Return up to `limit` events before the one with an id, newest first.

    Raises:
        InvalidField: `until` is not after `since`.
    """
    if filters.since and filters.until and filters.until <= filters.since:
        raise InvalidField("until", "must be after since")
    found = await store.list_events(
        conn, filters, before=before, looked=MAX_LOOKED, limit=limit + 1
    )
    if len(found) > limit:
        return AuditPage(found[:limit], found[limit - 1].id)
    stopped = await store.looked_until(conn, filters, before=before, looked=MAX_LOOKED)
    return AuditPage(found, stopped, stopped)


async def check_action(conn: Conn, project_id: UUID | None, action: str) -> None:
    """Refuse an action, or word of one, that none of the newest events has.

    Raises:
        InvalidField: no event has it; the text names actions like it.
    """
    newest = await store.list_events(
        conn, AuditSearch(project_id), before=None, looked=MAX_LOOKED, limit=MAX_COMPARED
    )
    known = sorted({event.action for event in newest})
    if any(action in (each, *each.split(".")[:2]) for each in known):
        return
    verb = action.rpartition(".")[2]
    like = [each for each in known if each.rpartition(".")[2] == verb]
    like = like or [each for each in known if action in each]
    like = like or get_close_matches(action, known, n=MAX_SUGGESTED, cutoff=MIN_SIMILARITY)
    rest = f"; did you mean {' or '.join(like[:MAX_SUGGESTED])}?" if like else ""
    raise InvalidField("action", f"no event has the action {action}{rest}")


async def find(conn: Conn, event_id: int, *, project_id: UUID | None = None) -> AuditEvent:
    """Return an event of a project; None: of any project or the installation.

    Raises:
        NotFound: there is no such event.
    """
    found = await store.find_event(conn, event_id, project_id=project_id)
    if found is None:
        raise NotFound("audit event", event_id)
    return found


async def check_seal(conn: Conn, event_id: int, master: MasterKey | None) -> SealCheck:
    """Compare one row with its newest seal. `verify` compares all of them, and their order."""
    if not await store.may_read_seals(conn):
        return SealCheck(SealState.UNKNOWN, why_not="this login may not read the seals")
    found = await store.find_sealed(conn, event_id)
    line: dict[str, Any] = {"seal": None} if found is None else json.loads(found)
    if line["seal"] is None:
        return SealCheck(SealState.WAITING)
    seal, row = seal_of(line["seal"]), AuditRow(**line["row"])
    if master is None:
        return SealCheck(SealState.UNKNOWN, seal.time, "no master key is set")
    key = (await keys_by_id(conn, master)).get(seal.key_id)
    if key is None:
        return SealCheck(SealState.UNKNOWN, seal.time, "the master key is another one")
    codes = AuditCodes(key)
    if hmac.compare_digest(seal.row_code, codes.row_code(row)):
        return SealCheck(SealState.SEALED, seal.time)
    is_permitted = line["is_changing"] and codes.may_become(seal, row)
    return SealCheck(SealState.WAITING if is_permitted else SealState.CHANGED, seal.time)


async def sealed_at(conn: Conn) -> datetime | None:
    """Return when rows were sealed last; None: never, or this login may not read it."""
    if not await store.may_read_seals(conn):
        return None
    last = await store.find_last(conn)
    return None if last is None else last.time

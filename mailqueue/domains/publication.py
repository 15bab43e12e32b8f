"""Checks whether the records of DKIM keys are published, and activates keys that are."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.db.fetch import Conn
from mailqueue.dkim.record import key_fault
from mailqueue.domains import keys, store
from mailqueue.domains.model import DkimKey
from mailqueue.domains.resolver import Resolver, Unresolved

MAX_AT_ONCE = 20
"""Lookups for the keys of a domain at the same time: keys that were revoked are many in the end."""


class RecordState(StrEnum):
    """State of a key's record in DNS."""

    PUBLISHED = "published"
    MISSING = "missing"
    WRONG = "wrong"  # a record exists, but signatures cannot be verified with it
    UNKNOWN = "unknown"  # the lookup failed
    GONE = "gone"  # the record of a revoked key is removed or empty
    STILL_THERE = "still_there"  # the record of a revoked key still has the key


@dataclass(frozen=True, slots=True)
class Publication:
    """One key and the records found at its name."""

    key: DkimKey
    in_dns: RecordState
    records: tuple[str, ...] = ()
    why: str | None = None


async def look_up(keys: Sequence[DkimKey], resolver: Resolver) -> list[Publication]:
    """Look up the record of each key, MAX_AT_ONCE at a time."""
    room = asyncio.Semaphore(MAX_AT_ONCE)
    return list(await asyncio.gather(*(_look_up_one(key, resolver, room) for key in keys)))


async def _look_up_one(key: DkimKey, resolver: Resolver, room: asyncio.Semaphore) -> Publication:
    try:
        async with room:
            found = tuple(await resolver.texts(key.name))
    except Unresolved as exc:
        return Publication(key, RecordState.UNKNOWN, (), exc.why)
    return judged(key, found)


def judged(key: DkimKey, texts: tuple[str, ...]) -> Publication:
    """Return the state of a key by the records found at its name. Pure."""
    faults = [key_fault(each, algorithm=key.algorithm, public=key.public_key) for each in texts]
    if key.status is DkimKeyStatus.REVOKED:
        if None in faults:
            return Publication(
                key, RecordState.STILL_THERE, texts, "its record still contains the key"
            )
        return Publication(key, RecordState.GONE, texts)
    if not texts:
        return Publication(key, RecordState.MISSING, (), "there is no record")
    if len(texts) > 1:
        # RFC 6376 3.6.2.2: the result of verifying is undefined.
        return Publication(
            key, RecordState.WRONG, texts, f"there are {len(texts)} records; there must be one"
        )
    if faults[0] is not None:
        return Publication(key, RecordState.WRONG, texts, faults[0])
    return Publication(key, RecordState.PUBLISHED, texts)


async def verify(
    conn: Conn,
    project: str,
    *,
    domain: str,
    resolver: Resolver,
    keep: timedelta = keys.RETIREMENT,
    by: str,
) -> list[Publication]:
    """Look up a domain's keys, and activate pending keys that are published.

    Raises:
        NotFound: the project does not exist, or has no key of the domain.
    """
    mine = await keys.list_keys(conn, project=project, domain=domain)
    return await settle(conn, await look_up(mine, resolver), keep=keep, by=by)


async def settle(
    conn: Conn, publications: Sequence[Publication], *, keep: timedelta = keys.RETIREMENT, by: str
) -> list[Publication]:
    """Store the states of keys, and activate pending keys that are published."""
    seen = [each.key for each in publications if each.in_dns is RecordState.PUBLISHED]
    await store.note_seen(conn, seen)
    waiting = [key for key in seen if key.status is DkimKeyStatus.PENDING]
    await keys.activate(conn, waiting, keep=keep, by=by, seen=True)
    now: dict[UUID, DkimKey] = {}
    for project, domain in {(each.key.project, each.key.domain) for each in publications}:
        again = await keys.list_keys(conn, project=project, domain=domain)
        now |= {key.id: key for key in again}
    return [replace(each, key=now.get(each.key.id, each.key)) for each in publications]


async def force(
    conn: Conn, project: str, *, domain: str, keep: timedelta = keys.RETIREMENT, by: str
) -> list[DkimKey]:
    """Activate a domain's pending keys without looking up their records.

    Raises:
        NotFound: the project does not exist, or has no key of the domain.
    """
    found = await keys.list_keys(conn, project=project, domain=domain)
    waiting = [key for key in found if key.status is DkimKeyStatus.PENDING]
    await keys.activate(conn, waiting, keep=keep, by=by, seen=False)
    return await keys.list_keys(conn, project=project, domain=domain)

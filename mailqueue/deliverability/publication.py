"""Decides whether the record of a DKIM key is in DNS as it should be, and which keys then sign."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.db.fetch import Conn
from mailqueue.deliverability import keys, store
from mailqueue.deliverability.model import DkimKey
from mailqueue.deliverability.resolver import Resolver, Unresolved
from mailqueue.dkim.record import key_fault


class InDns(StrEnum):
    """What DNS says of a key."""

    PUBLISHED = "published"
    MISSING = "missing"
    WRONG = "wrong"  # there is a record, and nobody can verify with it
    UNKNOWN = "unknown"  # no answer
    GONE = "gone"  # of a revoked key: nobody can verify with it any more
    STILL_THERE = "still_there"  # of a revoked key


@dataclass(frozen=True, slots=True)
class Publication:
    """One key and what was found under its name."""

    key: DkimKey
    in_dns: InDns
    found: tuple[str, ...] = ()
    why: str | None = None


async def look_up(found: Sequence[DkimKey], resolver: Resolver) -> list[Publication]:
    """Ask DNS for the record of each key."""
    return list(await asyncio.gather(*(_look_up_one(key, resolver) for key in found)))


async def _look_up_one(key: DkimKey, resolver: Resolver) -> Publication:
    try:
        found = tuple(await resolver.texts(key.name))
    except Unresolved as exc:
        return Publication(key, InDns.UNKNOWN, (), exc.why)
    return judged(key, found)


def judged(key: DkimKey, found: tuple[str, ...]) -> Publication:
    """Judge what was found under a key's name. Pure."""
    faults = [key_fault(each, algorithm=key.algorithm, public=key.public_key) for each in found]
    if key.status is DkimKeyStatus.REVOKED:
        if None in faults:
            return Publication(key, InDns.STILL_THERE, found, "its record still publishes it")
        return Publication(key, InDns.GONE, found)
    if not found:
        return Publication(key, InDns.MISSING, (), "there is no such record")
    if len(found) > 1:
        # RFC 6376 3.6.2.2: what verifiers do then is undefined.
        return Publication(key, InDns.WRONG, found, f"there are {len(found)} records, not one")
    if faults[0] is not None:
        return Publication(key, InDns.WRONG, found, faults[0])
    return Publication(key, InDns.PUBLISHED, found)


async def verify(
    conn: Conn,
    project: str,
    *,
    domain: str,
    resolver: Resolver,
    keep: timedelta = keys.KEEP,
    by: str,
) -> list[Publication]:
    """Look a domain's keys up; those that waited for their records and have them sign from now on.

    Raises:
        NotFound: there is no such project, or no key of the domain.
    """
    mine = await keys.list_keys(conn, project=project, domain=domain)
    return await settle(conn, await look_up(mine, resolver), keep=keep, by=by)


async def settle(
    conn: Conn, found: Sequence[Publication], *, keep: timedelta = keys.KEEP, by: str
) -> list[Publication]:
    """Write down what DNS said of keys; those that waited and are published sign from now on."""
    seen = [each.key for each in found if each.in_dns is InDns.PUBLISHED]
    await store.note_seen(conn, seen)
    waiting = [key for key in seen if key.status is DkimKeyStatus.PENDING]
    await keys.put_in_force(conn, waiting, keep=keep, by=by, seen=True)
    now: dict[UUID, DkimKey] = {}
    for project, domain in {(each.key.project, each.key.domain) for each in found}:
        again = await keys.list_keys(conn, project=project, domain=domain)
        now |= {key.id: key for key in again}
    return [replace(each, key=now.get(each.key.id, each.key)) for each in found]


async def force(
    conn: Conn, project: str, *, domain: str, keep: timedelta = keys.KEEP, by: str
) -> list[DkimKey]:
    """Sign with a domain's pending keys from now on, whatever DNS says.

    Raises:
        NotFound: there is no such project, or no key of the domain.
    """
    found = await keys.list_keys(conn, project=project, domain=domain)
    waiting = [key for key in found if key.status is DkimKeyStatus.PENDING]
    await keys.put_in_force(conn, waiting, keep=keep, by=by, seen=False)
    return await keys.list_keys(conn, project=project, domain=domain)

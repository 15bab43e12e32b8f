"""Loads the rules of time zones into the database.

The rules are those of the package `tzdata`, the IANA time zone database. SQL functions compute
instants from them, so that a local time means the same instant on every host and PostgreSQL.
"""

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

import tzdata

from mailqueue.db.fetch import Conn, maybe, run, value
from mailqueue.db.statements import schema as sql

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
"""Offsets before it are those at it."""
END = datetime(2061, 1, 1, tzinfo=UTC)
"""There are no rules from it on."""
_HEADER = struct.Struct(">4sc15x6l")
_STEP = timedelta(days=7)
"""Interval at which a zone's offset is looked at; changes by a rule of summer time are further
apart."""


@dataclass(frozen=True, slots=True)
class Offsets:
    """The instants at which a zone's offset from UTC changes, in order, each with the offset from
    then on; the first is FIRST.
    """

    name: str
    starts: tuple[datetime, ...]
    offsets: tuple[timedelta, ...]


async def load_time_zones(conn: Conn) -> bool:
    """Replace the rules by those of the installed package if it is newer; return whether it is.

    Call it in a transaction.
    """
    if not await value(conn, sql.HAS_TIME_ZONES, None, bool):
        return False
    release = await maybe(conn, sql.TIME_ZONE_RELEASE, None, str)
    if release is not None and release >= tzdata.IANA_VERSION:
        return False
    names, zones = read_time_zones()
    fields = {
        "release": tzdata.IANA_VERSION,
        "until": END,
        "names": list(names),
        "rules": list(names.values()),
        "zones": [zone.name for zone in zones for _ in zone.starts],
        "starts": [start for zone in zones for start in zone.starts],
        "offsets": [offset for zone in zones for offset in zone.offsets],
    }
    await run(conn, sql.REPLACE_TIME_ZONES, fields)
    return True


def read_time_zones() -> tuple[dict[str, str], list[Offsets]]:
    """Return the zone with the rules of each name, and the offsets of those zones."""
    folder = resources.files(tzdata)
    rules: dict[bytes, str] = {}
    names: dict[str, str] = {}
    for name in sorted((folder / "zones").read_text("utf-8").split()):
        names[name] = rules.setdefault((folder / "zoneinfo" / name).read_bytes(), name)
    later: dict[tuple[bytes, int], list[tuple[datetime, timedelta]]] = {}
    return names, [_offsets(name, data, later) for data, name in rules.items()]


def _offsets(
    name: str, data: bytes, later: dict[tuple[bytes, int], list[tuple[datetime, timedelta]]]
) -> Offsets:
    zone = ZoneInfo.from_file(io.BytesIO(data), name)
    listed, rule = _listed(data)
    changes = [(at, offset) for at, offset in listed if FIRST < at < END]
    changes.insert(0, (FIRST, _offset(zone, FIRST)))
    if b"," in rule:  # summer time goes on after the listed changes
        after = changes[-1][0]
        next_year = datetime(after.year + 1, 1, 1, tzinfo=UTC)
        key = (rule, after.year)
        if key not in later:
            later[key] = list(_changes(zone, next_year, END))
        changes += [*_changes(zone, after, next_year), *later[key]]
    kept = [changes[0]]
    for at, offset in changes[1:]:
        if offset != kept[-1][1]:
            kept.append((at, offset))
    return Offsets(name, tuple(at for at, _ in kept), tuple(offset for _, offset in kept))


def _listed(data: bytes) -> tuple[list[tuple[datetime, timedelta]], bytes]:
    """Return the changes that a file lists, and its rule for the time after them (RFC 9636)."""
    start = _HEADER.size
    _, _, isutc, isstd, leaps, times, types, letters = _HEADER.unpack_from(data)
    start += times * 5 + types * 6 + letters + leaps * 8 + isstd + isutc  # the block of 32 bits
    _, _, isutc, isstd, leaps, times, types, letters = _HEADER.unpack_from(data, start)
    start += _HEADER.size
    instants = struct.unpack_from(f">{times}q", data, start)
    kinds = struct.unpack_from(f">{times}B", data, start + times * 8)
    start += times * 9
    offsets = [struct.unpack_from(">l", data, start + kind * 6)[0] for kind in range(types)]
    start += types * 6 + letters + leaps * 12 + isstd + isutc
    first, end = FIRST.timestamp(), END.timestamp()
    listed = [
        (datetime.fromtimestamp(at, UTC), timedelta(seconds=offsets[kind]))
        for at, kind in zip(instants, kinds, strict=True)
        if first <= at < end
    ]
    return listed, data[start:].strip()


def _changes(
    zone: ZoneInfo, after: datetime, until: datetime
) -> Iterator[tuple[datetime, timedelta]]:
    """Yield the changes between two instants, which are more than _STEP apart."""
    start, offset = after, _offset(zone, after)
    while start < until:
        end = min(start + _STEP, until)
        new = _offset(zone, end)
        if new != offset:
            yield _change(zone, start, end, offset), new
            offset = new
        start = end


def _change(zone: ZoneInfo, start: datetime, end: datetime, offset: timedelta) -> datetime:
    """Return the first second between two instants at which the offset is another."""
    low, high = 0, int((end - start).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, start + timedelta(seconds=middle)) == offset:
            low = middle
        else:
            high = middle
    return start + timedelta(seconds=high)


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    offset = at.astimezone(zone).utcoffset()
    assert offset is not None
    return offset

"""Reads untrusted JSON: values by type, timestamps in any format, arrays element by element.

Pure; never raises. A signed request may still be hostile or in a newer format: a value of an
unexpected type is read as absent.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any
from uuid import UUID

import orjson

from mailqueue.ports.inbound import BadEvent, JsonObject

MAX_TEXT_CHARACTERS = 1_000
MAX_ADDRESS_CHARACTERS = 320
MAX_URL_CHARACTERS = 2_000
MAX_ELEMENTS = 20_000
MAX_RECIPIENTS = 100
_MAX_EPOCH_SECONDS = 4_102_444_800  # 2100: larger numbers are milliseconds
_FRACTION = re.compile(r"([.,]\d{6})\d+")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


def loaded(octets: bytes | str) -> Any:
    """Return the value of a JSON text; None if it is null or not valid JSON.

    Lone surrogates are kept; they are removed before the value is stored.
    """
    try:
        return orjson.loads(octets)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(octets)
    except (ValueError, RecursionError):
        return None


def elements_of(octets: bytes) -> Sequence[JsonObject | BadEvent]:
    """Return the elements of an array of objects, or a single object as one element.

    An invalid element does not affect the others.
    """
    found = loaded(octets)
    if isinstance(found, list):
        return [_object(one) for one in found[:MAX_ELEMENTS]] + _cut(len(found))
    if found is not None:
        return [_object(found)]
    pieces = list(_pieces(octets))
    if not pieces:
        return [BadEvent("the body is not JSON")]
    return [_object(loaded(one)) for one in pieces[:MAX_ELEMENTS]] + _cut(len(pieces))


def _object(value: Any) -> JsonObject | BadEvent:
    if isinstance(value, dict):
        return value
    return BadEvent("an element is not a JSON object")


def _cut(count: int) -> list[JsonObject | BadEvent]:
    if count <= MAX_ELEMENTS:
        return []
    return [BadEvent(f"{count - MAX_ELEMENTS} elements beyond {MAX_ELEMENTS}")]


def _pieces(octets: bytes) -> Iterator[bytes]:
    """Split an array at its own commas, without parsing the elements."""
    body = octets.strip()
    if not (body.startswith(b"[") and body.endswith(b"]")):
        return
    depth = 0
    start = 1
    for found in _MARKS.finditer(body, 1, len(body) - 1):
        match found[0][:1]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
            case b"," if depth == 0:
                yield body[start : found.start()]
                start = found.end()
    if body[start:-1].strip():
        yield body[start:-1]


_MARKS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)


def part(value: Any, *path: str) -> Any:
    """Return the value at a path of keys, or None if a key is missing."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def text(value: Any, max_characters: int = MAX_TEXT_CHARACTERS) -> str | None:
    """Return a string or number as text of at most `max_characters` characters; else None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, int) and abs(value) > 10**30:
        return None
    found = str(value).strip()
    return found[:max_characters] or None


def address(value: Any) -> str | None:
    """Return an address without angle brackets; None if it has no @ or is too long."""
    found = text(value, MAX_TEXT_CHARACTERS)
    if found is None or "@" not in found:
        return None
    if found.endswith(">") and "<" in found:
        found = found[found.rindex("<") + 1 : -1].strip()
    return found if 3 <= len(found) <= MAX_ADDRESS_CHARACTERS else None


def texts(value: Any) -> list[str]:
    """Return a string or a list of strings as a list."""
    several = value if isinstance(value, list) else [value]
    return [one for each in several[:MAX_RECIPIENTS] if (one := text(each)) is not None]


def mail_id(value: Any) -> UUID | None:
    """Return the id of an email sent from here, or None."""
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, str) or not _UUID.fullmatch(value.strip()):
        return None
    return UUID(value.strip())


def instant(value: Any) -> datetime | None:
    """Return a timestamp: seconds or milliseconds since 1970 as a number or string, or ISO 8601."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        with suppress(ValueError):
            value = float(value)
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(_FRACTION.sub(r"\1", value[:64]))
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    if not isinstance(value, int | float) or value - value != 0 or not 0 < value < 1e14:
        return None
    seconds = value / 1000 if value > _MAX_EPOCH_SECONDS else value
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def network(value: Any) -> str | None:
    """Return the network of an IP address, /24 or /48; the address itself is not stored."""
    found = text(value, 64)
    if found is None:
        return None
    try:
        parsed = ip_address(found)
    except ValueError:
        return None
    wide = 24 if parsed.version == 4 else 48
    return str(ip_network(f"{parsed}/{wide}", strict=False)) if "%" not in found else None


def known(**named: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: value for name, value in named.items() if value is not None}

"""Makes header values such that pamqp can write them. Pure."""

import struct
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pamqp import encode

MAX_HEADER_BYTES = 64 * 1024
"""Bytes of headers that are sent: they have to fit in one frame, by default of 128 KiB."""
_MAX_NAME_BYTES = 128
_ROUTING = ("CC", "BCC")
"""Headers by which RabbitMQ routes a message to further queues."""


def headers_of_copy(headers: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers of a message for a copy of it, without those that route it.

    Headers that are too large for a frame are left out; `mailqueue-headers` says so.
    """
    kept = encodable({name: value for name, value in headers.items() if name not in _ROUTING})
    if len(encode.field_table(kept)) > MAX_HEADER_BYTES:
        return {"mailqueue-headers": f"left out: more than {MAX_HEADER_BYTES // 1024} KiB"}
    return kept


def encodable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that pamqp writes; as text where it would write another or none."""
    return {
        name.encode()[:_MAX_NAME_BYTES].decode(errors="ignore"): _value(value)
        for name, value in values.items()
    }


def _value(value: Any) -> Any:
    match value:
        case Mapping():
            return encodable(value)
        case list():
            return [_value(one) for one in value]
        case bytes():
            return bytearray(value)
        case float() if not _is_single(value):
            return str(value)
        case Decimal():
            return str(value)
    try:
        encode.encode_table_value(value)
    except (TypeError, ValueError, OverflowError, struct.error):
        return str(value)
    return value


def _is_single(value: float) -> bool:
    """Return whether a value is the same in four bytes, as pamqp writes it."""
    try:
        return bool(struct.unpack(">f", struct.pack(">f", value))[0] == value)
    except OverflowError:
        return False

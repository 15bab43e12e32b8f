"""Codes of audit rows and seals: HMAC-SHA256 (RFC 2104) under a key of the audit log. Pure.

A row has three codes. One is of the whole row. The skeleton leaves out addresses and the count of
an operation in batches, which may change; the third is one short code for each address.
"""

import hmac
import re
from collections.abc import Iterable

from mailqueue.audit.model import AuditRow, Seal
from mailqueue.core.mailboxes import ERASED_ADDRESS

_ADDRESS_BYTES = 8
"""Length of the code of an address."""
_WORD = re.compile(r'(?:\\"[^"\\]*\\"|[^\s"])+')
# As in the pattern of erasures: in URLs, quoted-printable, JSON, HTML and return paths.
_AT = re.compile(r"@|%40|=|\\u0040|&#0*64;|&#x0*40;|&commat;", re.IGNORECASE)
_COUNT = re.compile(r'"emails": \d+')


class AuditCodes:
    """Computes codes under one key."""

    def __init__(self, key: bytes) -> None:
        self._keys = {
            purpose: _code(key, [f"mailqueue audit {purpose}"])
            for purpose in ("row", "skeleton", "address", "seal", "cut")
        }

    def row_code(self, row: AuditRow) -> bytes:
        """Return the code of a whole row."""
        return _code(self._keys["row"], [str(row.id), *row.fields])

    def skeleton(self, row: AuditRow) -> bytes:
        """Return the code of a row without addresses and the count of an operation."""
        text = _WORD.sub(lambda word: "@" if _AT.search(word[0]) else word[0], row.text)
        return _code(self._keys["skeleton"], [*row.fixed, _COUNT.sub('"emails": 0', text)])

    def addresses(self, row: AuditRow) -> bytes:
        """Return the codes of the words of a row that may be addresses."""
        return b"".join(map(self._address, _addresses(row)))

    def may_become(self, seal: Seal, row: AuditRow) -> bool:
        """Return whether a sealed row may have changed to this one by an erasure or its count."""
        if seal.skeleton is None or seal.addresses is None:
            return False
        before, now = seal.addresses, _addresses(row)
        return (
            hmac.compare_digest(seal.skeleton, self.skeleton(row))
            and len(before) == len(now) * _ADDRESS_BYTES
            and all(
                ERASED_ADDRESS in word
                or self._address(word) == before[start : start + _ADDRESS_BYTES]
                for start, word in zip(range(0, len(before), _ADDRESS_BYTES), now, strict=True)
            )
        )

    def seal_code(self, seal: Seal, *, before: bytes) -> bytes:
        """Return the code of a seal after the one with the code `before`."""
        return _code(self._keys["seal"], [before.hex(), *_seal_fields(seal)])

    def cut_code(self, seal: Seal) -> bytes:
        """Return the code of a seal that stands for deleted ones."""
        return _code(self._keys["cut"], _seal_fields(seal))

    def _address(self, word: str) -> bytes:
        return _code(self._keys["address"], [word])[:_ADDRESS_BYTES]


def _seal_fields(seal: Seal) -> list[str | None]:
    return [
        str(seal.position),
        seal.kind,
        None if seal.event_id is None else str(seal.event_id),
        str(seal.settled_id),
        seal.sealed_at,
        str(seal.key_id),
        seal.reason,
        seal.row_code.hex(),
        None if seal.skeleton is None else seal.skeleton.hex(),
        None if seal.addresses is None else seal.addresses.hex(),
    ]


def _addresses(row: AuditRow) -> list[str]:
    return [word[0] for word in _WORD.finditer(row.text) if _AT.search(word[0])]


def _code(key: bytes, fields: Iterable[str | None]) -> bytes:
    """Return the HMAC of fields, each preceded by its length, so that none can be moved."""
    code = hmac.new(key, digestmod="sha256")
    for field in fields:
        octets = b"" if field is None else b"=" + field.encode("utf-8", "surrogatepass")
        code.update(len(octets).to_bytes(8))
        code.update(octets)
    return code.digest()

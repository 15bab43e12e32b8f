"""Passkeys as values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """What passkeys of this installation are bound to: a host name, and the origin of the pages."""

    id: str
    origin: str


@dataclass(frozen=True, slots=True)
class ListedPasskey:
    """A passkey as its user sees it."""

    id: UUID
    credential_id: bytes
    transports: Sequence[str]
    name: str
    added_at: datetime
    used_at: datetime | None  # None: not yet


@dataclass(frozen=True, slots=True)
class StoredPasskey:
    """A passkey that answers a challenge, and the password of its user."""

    id: UUID
    user_id: UUID
    password_hash: str = field(repr=False)
    is_known_browser: bool
    public_key: bytes


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """What a device answered when a passkey was made, after it was verified."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    transports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assertion:
    """An answer of a device, read and not verified; `user_handle` None: it names no user."""

    credential_id: bytes
    user_handle: bytes | None

"""Values: pictures of templates, and their bounds."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

MAX_BYTES = 1024 * 1024
"""Bytes of one picture."""
MAX_PICTURES = 200
"""Pictures of a project; add_template_picture() refuses more, and more than 64 MiB together."""
MAX_SIDE = 10_000
"""Pixels of width and of height."""
PATH = "/t/p/"
"""Begin of the path of public URLs."""


@dataclass(frozen=True, slots=True)
class PictureKind:
    """What the bytes of a picture say of themselves: media type, and sides in pixels."""

    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class NewPicture:
    """A picture to store, with what its bytes say."""

    name: str
    kind: PictureKind
    octets: bytes


@dataclass(frozen=True, slots=True)
class PictureRow:
    """A picture without its bytes; `domain` is the tracking domain of its project, if confirmed."""

    id: UUID
    token: UUID
    name: str
    media_type: str
    bytes: int
    width: int
    height: int
    sha256: str
    created_by: str
    created_at: datetime
    domain: str | None


@dataclass(frozen=True, slots=True)
class PictureBytes:
    """The bytes of a picture."""

    media_type: str
    octets: bytes
    sha256: str

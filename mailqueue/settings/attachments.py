"""Where the files of mails go that are too large for the database. Values and their spelling."""

from dataclasses import dataclass
from pathlib import Path

OVER_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class AttachmentSettings:
    """Places as file:///folder or s3://bucket/prefix; the first takes new files, all are read.

    Without any, every file is in the database.
    """

    places: tuple[str, ...] = ()
    over_bytes: int = OVER_BYTES  # smaller files stay in the database
    s3_endpoint: str | None = None  # None: the one of the region


def parse_places(text: str) -> tuple[str, ...]:
    """Read places divided by commas: an absolute folder, or s3://bucket/prefix.

    Raises:
        ValueError: if one is neither.
    """
    return tuple(parse_place(word.strip()) for word in text.split(",") if word.strip())


def parse_place(text: str) -> str:
    """Read one place.

    Raises:
        ValueError: if it is no absolute folder and not s3://bucket/prefix.
    """
    if text.startswith("s3://"):
        return text.rstrip("/")
    if not text.startswith("/"):
        raise ValueError("must be an absolute folder or s3://bucket/prefix")
    return Path(text).as_uri()

"""Settings for storing large attachments outside the database. Values and their format."""

from dataclasses import dataclass
from pathlib import Path

OVER_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class AttachmentSettings:
    """Locations as file:///folder or s3://bucket/prefix; the first stores new files, all are read.

    Without locations every file is stored in the database.
    """

    places: tuple[str, ...] = ()
    over_bytes: int = OVER_BYTES  # smaller files stay in the database
    s3_endpoint: str | None = None  # None: the endpoint of the region


def parse_places(text: str) -> tuple[str, ...]:
    """Parse locations separated by commas: absolute folders or s3://bucket/prefix.

    Raises:
        ValueError: one is neither.
    """
    return tuple(parse_place(word.strip()) for word in text.split(",") if word.strip())


def parse_place(text: str) -> str:
    """Parse one location.

    Raises:
        ValueError: it is neither an absolute folder nor s3://bucket/prefix.
    """
    if text.startswith("s3://"):
        return text.rstrip("/")
    if not text.startswith("/"):
        raise ValueError("must be an absolute folder or s3://bucket/prefix")
    return Path(text).as_uri()

"""Settings of the archive. Values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """Location of archive files: file:///folder or s3://bucket/prefix; None is no archive."""

    warm: str | None
    cold: str | None
    s3_endpoint: str | None = None  # None: the endpoint of the region

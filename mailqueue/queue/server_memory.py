"""What a process has seen of the database, by which it notices that the database has gone back."""

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from uuid import UUID

from mailqueue.telemetry.log import get_logger

FILE_NAME = "database_seen.json"
"""The file of a data folder in which worker hosts keep it while no process runs."""

log = get_logger(__name__)


class ServerMemory:
    """The last state that a process has seen.

    The database makes it and compares it: see `mailqueue.see_server`. A database that lacks some of
    it was restored, or has failed over with loss, and no email is sent from it.
    """

    def __init__(self, data: Path | None = None) -> None:
        """Prepare; with a data folder, begin with what its file says, and keep the file."""
        self._file = None if data is None else data / FILE_NAME
        self._refusal: str | None = None
        self.seen: str | None = None
        if self._file is not None:
            self.seen = _stored(self._file)

    def update(self, seen: str | None, refusal: str | None) -> None:
        """Keep what the database returned; log when sending is refused, and when it resumes."""
        if self._file is not None and seen is not None and seen != self.seen:
            _store(self._file, seen)
        self.seen = seen
        if refusal is not None and self._refusal is None:
            log.error("sending.refused", reason=refusal, fix="mailqueue restored")
        elif refusal is None and self._refusal is not None:
            log.info("sending.resumed")
        self._refusal = refusal


def _stored(file: Path) -> str | None:
    """Return what the file says, marked as such; None if it does not exist or is damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(file.read_text("utf-8"))
        declared_at = str(found["declared_at"])
        if declared_at != "-infinity":
            datetime.fromisoformat(declared_at)
        return json.dumps(
            {
                "identity": None if found["identity"] is None else str(found["identity"]),
                "installation": str(UUID(found["installation"])),
                "declared_at": declared_at,
                "progress": int(found["progress"]),
                "is_stored": True,
            }
        )
    return None


def _store(file: Path, seen: str) -> None:
    """Replace the file; without a folder that can be written there is none."""
    with suppress(OSError):
        new = file.with_suffix(".new")
        new.write_text(seen, "utf-8")
        new.replace(file)

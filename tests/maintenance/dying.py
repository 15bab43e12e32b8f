"""Runs the command line in processes that die at a named place."""

import signal
from dataclasses import dataclass
from pathlib import Path

from mailqueue.core.crashpoints import VARIABLE
from tests.chaos.offspring import Nursery


@dataclass(frozen=True, slots=True)
class Operator:
    """Who runs maintenance on a database, with an archive in two folders."""

    nursery: Nursery
    database: str
    data: Path
    warm: Path
    cold: Path

    async def run(self, *words: str, dies_at: str | None = None) -> str:
        """Run a command to its good end; given a point, it must have died there."""
        environment = {
            "MAILQUEUE_DATABASE_URL": self.database,
            "MAILQUEUE_DATA": str(self.data),
            "MAILQUEUE_ARCHIVE": str(self.warm),
            "MAILQUEUE_ARCHIVE_COLD": str(self.cold),
        }
        if dies_at is not None:
            environment[VARIABLE] = f"{dies_at} kill 1"
        child = await self.nursery.start(*words, environment=environment)
        code = await child.ended()
        said = child.log.read_text()
        assert code == (0 if dies_at is None else -signal.SIGKILL), said
        return said

"""Runs commands in processes that end at a crash point."""

import signal
from dataclasses import dataclass
from pathlib import Path

from mailqueue.core.crashpoints import VARIABLE
from tests.chaos.processes import ForkServer


@dataclass(frozen=True, slots=True)
class Operator:
    """Runs maintenance on a database, with an archive in two folders."""

    nursery: ForkServer
    database: str
    data: Path
    warm: Path
    cold: Path

    async def run(self, *words: str, dies_at: str | None = None, passing: int = 1) -> str:
        """Run a command until it succeeds; with a crash point it must have been killed there.

        At a later passing than the first it may come to its end before.
        """
        environment = {
            "MAILQUEUE_DATABASE_URL": self.database,
            "MAILQUEUE_DATA": str(self.data),
            "MAILQUEUE_ARCHIVE": str(self.warm),
            "MAILQUEUE_ARCHIVE_COLD": str(self.cold),
        }
        if dies_at is not None:
            environment[VARIABLE] = f"{dies_at} kill {passing}"
        child = await self.nursery.start(*words, environment=environment)
        code = await child.ended()
        said = child.log.read_text()
        good = {0 if dies_at is None else -signal.SIGKILL} | ({0} if passing > 1 else set())
        assert code in good, said
        return said

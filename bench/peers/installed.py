"""Installs the peers from their published packages into a temporary folder."""

import asyncio
import os
import shutil
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer: the command of its script, and the query that returns whether all its mail is
    done.
    """

    name: str
    language: str  # node or python
    script: str
    is_done: str
    starts_processes: bool = False  # of its own


PEERS = (
    Peer(
        "pg-boss + nodemailer",
        "node",
        "pgboss.mjs",
        "SELECT NOT EXISTS (SELECT FROM pgboss.job WHERE name = 'mail' AND state < 'completed')",
    ),
    Peer(
        "graphile-worker + nodemailer",
        "node",
        "graphile.mjs",
        "SELECT NOT EXISTS (SELECT FROM graphile_worker.jobs)",
    ),
    Peer(
        "pgqueuer + aiosmtplib",
        "python",
        "with_pgqueuer.py",
        "SELECT NOT EXISTS (SELECT FROM public.pgqueuer)",
    ),
    Peer(
        "procrastinate + aiosmtplib",
        "python",
        "with_procrastinate.py",
        "SELECT NOT EXISTS (SELECT FROM public.procrastinate_jobs"
        " WHERE status IN ('todo', 'doing'))",
    ),
    Peer(
        "django-post-office (builds the message)",
        "python",
        "with_post_office.py",
        "SELECT NOT EXISTS (SELECT FROM public.post_office_email WHERE status IS DISTINCT FROM 0)",
        starts_processes=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Installed:
    """The peers in their folder."""

    folder: Path

    def command(self, peer: Peer, *arguments: str) -> list[str]:
        """Return the command line of a peer's script."""
        programs = {
            "node": self.folder / "node_modules" / ".bin" / "node",
            "python": self.folder / "venv" / "bin" / "python",
        }
        return [str(programs[peer.language]), str(self.folder / peer.script), *arguments]


async def install(folder: Path) -> Installed:
    """Install all peers.

    Raises:
        RuntimeError: one cannot be installed; its part of the comparison would be missing.
    """
    await asyncio.to_thread(_copy, folder)
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is needed to install the peers in JavaScript")
    await _run(npm, "install", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    requirements = folder / "requirements.txt"
    await _run(str(python), "-m", "pip", "install", "-q", "-r", str(requirements), cwd=folder)
    return Installed(folder)


def _copy(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in HERE.iterdir():
        if path.suffix in (".mjs", ".json", ".txt", ".py"):
            shutil.copy(path, folder)
    venv.create(folder / "venv", with_pip=True, symlinks=os.name != "nt")


async def _run(*command: str, cwd: Path) -> None:
    process = await asyncio.create_subprocess_exec(*command, cwd=cwd, stdout=sys.stderr)
    if await process.wait():
        raise RuntimeError(f"{' '.join(command[:3])} failed")

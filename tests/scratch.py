"""Chooses where the tests keep data: in memory if this machine has enough, otherwise on disk."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM_BYTES = 3 << 30
_AVAILABLE = "MemAvailable:"


def keep_in_memory(memory: Path = MEMORY) -> bool:
    """Put temporary files into a memory file system if servers can run from it.

    Most of what a test costs is files of databases that are thrown away. What tests of killed
    servers promise is about processes that die, and the same on either.
    """
    fits = _is_runnable(memory) and min(_free_bytes(memory), _available_bytes()) >= ROOM_BYTES
    if fits and "TMPDIR" not in os.environ:
        tempfile.tempdir = str(memory)
    return is_in_memory()


def is_in_memory(memory: Path = MEMORY) -> bool:
    """Return whether temporary files are in memory, where copying them is cheap."""
    return Path(tempfile.gettempdir()) == memory


@contextmanager
def lent(folder: Path) -> Iterator[Path]:
    """Lend a folder that is deleted afterwards: there is less memory than disk."""
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def strategy() -> str:
    """Return the fastest strategy for CREATE DATABASE: checkpoints are slow on a disk."""
    return "file_copy" if is_in_memory() else "wal_log"


def settings(major: int) -> Mapping[str, str]:
    """Return settings of a server of a major version that make logins and databases cheap.

    Each login proves its password by that many iterations; the kernel copies files by itself.
    """
    cheap: dict[str, str] = {}
    if major >= 16:
        cheap["scram_iterations"] = "1"
    if major >= 18 and is_in_memory():
        cheap["file_copy_method"] = "clone"
    return cheap


def _is_runnable(folder: Path) -> bool:
    """Return whether it is a memory file system from which programs can run."""
    if not folder.is_mount() or not os.access(folder, os.W_OK | os.X_OK):
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC


def _free_bytes(folder: Path) -> int:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


def _available_bytes() -> int:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(_AVAILABLE)), 0)

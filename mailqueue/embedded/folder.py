"""Creates the data folder, stores small secrets in it, and locks it for one `up` at a time."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mailqueue.core.errors import ConfigError, Conflict
from mailqueue.embedded.service_user import Account, require_reach

_OPEN_TO_PASS = 0o755
_OWNER_ONLY = 0o700


def prepare_folder(data: Path, account: Account) -> None:
    """Create the data folder if it is missing; existing folders are not changed.

    Raises:
        ConfigError: it cannot be created or written, or the account cannot reach it.
    """
    mode = _OWNER_ONLY if account.is_me else _OPEN_TO_PASS
    try:
        missing = [path for path in (data, *data.parents) if not path.exists()]
        standing = next(path for path in (data, *data.parents) if path not in missing)
        if standing.is_dir():  # checked first, so that a refusal creates nothing
            require_reach(standing, account)
        for path in reversed(missing):
            path.mkdir()
            path.chmod(mode)  # regardless of the umask
        _try_to_write(data)
    except OSError as exc:
        raise ConfigError(
            f"cannot use the data folder {data}: {exc.strerror} ({exc.filename}); "
            "choose another with --data or MAILQUEUE_DATA"
        ) from None
    require_reach(data, account)


@contextmanager
def hold_folder(data: Path) -> Iterator[None]:
    """Lock the folder until the block ends or this process exits.

    Raises:
        Conflict: another process holds the lock; the message names it.
    """
    with (data / "up.lock").open("a+", encoding="ascii") as file:
        try:
            # Not flock(): child processes, which may outlive this one, would inherit the lock.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            pid = file.read().strip() or "unknown"
            raise Conflict(
                f"mailqueue is already running on {data} (pid {pid}): "
                "stop that one, or choose another folder with --data"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def kept_password(path: Path) -> str:
    """Return the password stored in a file; create both if the file is missing."""
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        password = secrets.token_urlsafe(24)
        write_private(path, password)
        return password


def write_private(path: Path, text: str) -> None:
    """Write a file atomically, readable by its owner only."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)


def _try_to_write(data: Path) -> None:
    probe = data / f".probe-{os.getpid()}"
    probe.touch()
    probe.unlink()

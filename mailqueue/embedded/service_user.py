"""Chooses the user of the embedded server; PostgreSQL does not run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mailqueue.core.errors import ConfigError

_USUAL = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this host; `is_me` is true for the user of this process."""

    name: str
    uid: int
    gid: int
    is_me: bool

    def run(self, command: list[str], *, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command as this user, from the root folder and with a clean environment."""
        return subprocess.run(  # noqa: S603
            command,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=clean_environment(),
            user=None if self.is_me else self.uid,
            group=None if self.is_me else self.gid,
            extra_groups=None if self.is_me else [],
        )

    def spawn(self, command: list[str], *, log: int) -> subprocess.Popen[bytes]:
        """Start a command as this user in its own session, with its output in `log`."""
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=clean_environment(),
            start_new_session=True,  # so that Ctrl-C in the terminal does not stop the server
            user=None if self.is_me else self.uid,
            group=None if self.is_me else self.gid,
            extra_groups=None if self.is_me else [],
        )

    def can_enter(self, path: Path) -> bool:
        """Return whether this user can run or enter `path`; runs a test as the user."""
        return self.run(["/bin/sh", "-c", 'test -x "$0"', str(path)]).returncode == 0

    def own(self, path: Path) -> None:
        """Change the owner of a file or folder to this user."""
        if not self.is_me:
            os.chown(path, self.uid, self.gid)


def service_account(named: str | None) -> Account:
    """Return the named user, else `postgres`, else `nobody`; without root, the current user.

    Raises:
        ConfigError: the named user does not exist, is root, or cannot be switched to.
    """
    if os.geteuid() != 0:
        return _me(named)
    for name in (named,) if named else _USUAL:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        if found.pw_uid == 0:
            raise ConfigError("MAILQUEUE_SERVICE_USER: PostgreSQL does not run as root")
        return Account(name, found.pw_uid, found.pw_gid, is_me=False)
    wanted = named or " or ".join(_USUAL)
    raise ConfigError(f"MAILQUEUE_SERVICE_USER: this host has no user {wanted}")


def owner_of(path: Path) -> str | None:
    """Return the name of the owner of a file or folder; None if it is missing or has no name."""
    try:
        return path.owner()
    except (OSError, KeyError):
        return None


def require_reach(folder: Path, account: Account) -> None:
    """Check that the account can reach a folder.

    Raises:
        ConfigError: it cannot; the message names the first folder without permission, and the fix.
    """
    if account.can_enter(folder):
        return
    on_the_way = [*reversed(folder.parents), folder]
    shut = next((path for path in on_the_way if not account.can_enter(path)), folder)
    raise ConfigError(
        f"user {account.name}, who runs the embedded PostgreSQL, cannot enter {shut}: "
        f"choose another folder with --data, or allow it with `chmod o+x {shut}`"
    )


def clean_environment() -> dict[str, str]:
    """Return an environment for PostgreSQL's programs, without the caller's PG* variables."""
    path = os.environ.get("PATH") or "/usr/bin:/bin"
    return {"PATH": path, "LC_ALL": "C", "TZ": "UTC"}


def _me(named: str | None) -> Account:
    uid = os.geteuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = str(uid)
    if named and named != name:
        raise ConfigError(f"MAILQUEUE_SERVICE_USER: only root can run the server as {named}")
    return Account(name, uid, os.getegid(), is_me=True)

"""Decides which user the embedded server runs as; PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mailqueue.core.errors import ConfigError

_USUAL = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this machine; `is_me` where no change of user is needed."""

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
        """Start a command as this user in a session of its own, its output going to `log`."""
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=clean_environment(),
            start_new_session=True,  # a Ctrl-C in the terminal is for us, not for the server
            user=None if self.is_me else self.uid,
            group=None if self.is_me else self.gid,
            extra_groups=None if self.is_me else [],
        )

    def can_enter(self, path: Path) -> bool:
        """Return whether this user can run or pass through `path`, by trying."""
        return self.run(["/bin/sh", "-c", 'test -x "$0"', str(path)]).returncode == 0

    def own(self, path: Path) -> None:
        """Hand over a file or folder that we just made."""
        if not self.is_me:
            os.chown(path, self.uid, self.gid)


def service_account(named: str | None) -> Account:
    """Return the user named, else `postgres`, else `nobody`; ourselves where we are not root.

    Raises:
        ConfigError: if the user named is unknown, or root, or we may not become it.
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
    raise ConfigError(f"MAILQUEUE_SERVICE_USER: this machine has no user {wanted}")


def owner_of(path: Path) -> str | None:
    """Return the name of the user who owns a file or folder, None where it is missing or
    nameless.
    """
    try:
        return path.owner()
    except (OSError, KeyError):
        return None


def require_reach(folder: Path, account: Account) -> None:
    """Refuse a folder the account cannot come to.

    Raises:
        ConfigError: naming the first folder on the way that is shut, and what to do.
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
    """Return what PostgreSQL's programs need and nothing a caller's PG* variables could change."""
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

"""What this machine provides: other users, Python versions, Postfix, curl; or why it is missing."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from mailqueue.embedded.service_user import Account, service_account
from tests.whole.running import ROOT, Home

POSTFIX = Path("/usr/sbin/postfix")
_PATHS = [str(ROOT), sysconfig.get_path("purelib")]


def smtp_sink() -> str | None:
    """Return Postfix's smtp-sink, which accepts mail and stores or drops it."""
    return shutil.which("smtp-sink") or shutil.which("smtp-sink", path=str(POSTFIX.parent))


def python_for(account: Account) -> str | None:
    """Return a Python of the same version that another user can run with the installed packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    candidates = (sys.executable, f"/usr/local/bin/{version}", f"/usr/bin/{version}")
    trial = f"import sys; sys.path[:0] = {_PATHS!r}; import psycopg, uvloop, mailqueue"
    usable = (path for path in candidates if account.can_enter(Path(path)))
    return next((path for path in usable if account.run([path, "-c", trial]).returncode == 0), None)


def home_of(account: Account, folder: Path) -> Home:
    """Return the home of an ordinary user: their folder, and a Python they can run."""
    python = python_for(account)
    assert python is not None
    folder.mkdir()
    account.own(folder)
    variables = {"HOME": str(folder), "PYTHONPATH": os.pathsep.join(_PATHS)}
    return Home(folder / "data", variables, python, account)


def _lacks_sink() -> str | None:
    return None if smtp_sink() else "no smtp-sink of Postfix here"


def _lacks_postfix() -> str | None:
    if os.geteuid() != 0:
        return "only root can run a Postfix of its own"
    return None if POSTFIX.exists() else "no Postfix here"


def _lacks_curl() -> str | None:
    return None if shutil.which("curl") else "no curl here"


def _lacks_swaks() -> str | None:
    return None if shutil.which("swaks") else "no swaks here"


def _lacks_other_user() -> str | None:
    if os.geteuid() != 0:
        return "only root can become another user; all other tests ran as an ordinary one"
    found = python_for(service_account(None))
    return None if found else "no Python here that the service user can run"


NEEDS: Mapping[str, Callable[[], str | None]] = {
    "smtp_sink": _lacks_sink,
    "postfix": _lacks_postfix,
    "curl": _lacks_curl,
    "swaks": _lacks_swaks,
    "other_user": _lacks_other_user,
}
"""What a marked test needs on the machine."""

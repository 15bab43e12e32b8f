"""The API key shown by `mailqueue up`: a test key of project `default`, stored in the data
folder.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects.keys.manage import find_key, issue_key

FILE_NAME = "api_key"
PROJECT = "default"


async def keep_local_key(conn: Conn, folder: Path) -> str | None:
    """Return the folder's key; create one where there is none or it is no longer active.

    None where the installation issues no test keys.
    """
    path = folder / FILE_NAME
    with suppress(FileNotFoundError):
        kept = path.read_text("ascii").strip()
        if await find_key(conn, kept) is not None:
            return kept
    name = f"mailqueue up {secrets.token_hex(4)}"
    try:
        issued = await issue_key(conn, PROJECT, name, is_test=True)
    except InvalidField as exc:
        if exc.field != "is_test":
            raise
        return None
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(issued.key.reveal() + "\n")
    return issued.key.reveal()

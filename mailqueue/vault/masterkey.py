"""Where the master key comes from: the environment, else a file in the data folder."""

import base64
import binascii
import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile

from mailqueue.core.config import Settings
from mailqueue.core.errors import ConfigError
from mailqueue.vault.sealing import KEY_BYTES

VARIABLE = "MAILQUEUE_MASTER_KEY"
FILE_NAME = "master.key"
_HEX = re.compile(r"[0-9A-Fa-f]{64}")


@dataclass(frozen=True, slots=True)
class MasterKey:
    """The key that wraps data keys. It never lies in the database; its `id` does."""

    key: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """Name the key without telling it: 16 hexadecimal digits of a hash."""
        return hashlib.sha256(b"mailqueue master key" + self.key).hexdigest()[:16]


def load_master_key(folder: Path, given: str | None = None) -> MasterKey | None:
    """Read the master key: the given text, else the folder's file; None if there is neither.

    Raises:
        ConfigError: the text is no key, or the file may be read by others; says the fix.
    """
    if given:
        return parse_master_key(given, source=VARIABLE)
    path = folder / FILE_NAME
    try:
        with path.open("rb") as file:
            _refuse_open_mode(path, os.fstat(file.fileno()).st_mode)
            text = file.read(4096)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise ConfigError(f"{path} cannot be read: {exc.strerror}") from exc
    return parse_master_key(text.decode("ascii", "replace"), source=str(path))


def master_key_of(settings: Settings) -> MasterKey | None:
    """Read the master key these settings lead to: the variable, else the data folder's file."""
    given = settings.master_key
    return load_master_key(settings.data, given.reveal() if given else None)


def require_master_key(folder: Path, given: str | None = None) -> MasterKey:
    """Read the master key.

    Raises:
        ConfigError: there is none; says how to get one.
    """
    key = load_master_key(folder, given)
    if key is None:
        raise ConfigError(
            f"{VARIABLE} is not set and {folder / FILE_NAME} does not exist: set it to 32 random "
            "bytes in base64, or run `mailqueue up`, which makes the file"
        )
    return key


def create_master_key(folder: Path) -> MasterKey:
    """Make the folder's key file, mode 600, and give its key. An existing file is kept as it is.

    The file appears complete or not at all, and reaches the disk before this returns: whatever was
    sealed with a key that got lost stays shut for good.
    """
    path = folder / FILE_NAME
    try:
        with NamedTemporaryFile(dir=folder, prefix=f".{FILE_NAME}.") as draft:  # mode 600
            draft.write(base64.b64encode(os.urandom(KEY_BYTES)) + b"\n")
            draft.flush()
            os.fsync(draft.fileno())
            # A link is not made when the file exists: two starts agree on one key.
            with suppress(FileExistsError):
                os.link(draft.name, path)
        _flush_folder(folder)
    except OSError as exc:
        raise ConfigError(f"{path} cannot be made: {exc.strerror}") from exc
    return require_master_key(folder)


def parse_master_key(text: str, *, source: str) -> MasterKey:
    """Read 32 bytes from 64 hexadecimal digits or from base64 (either alphabet)."""
    text = text.strip()
    if _HEX.fullmatch(text):
        return MasterKey(bytes.fromhex(text))
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        key = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError(f"{source} must be {KEY_BYTES} bytes in base64 or hexadecimal digits")
    return MasterKey(key)


def _refuse_open_mode(path: Path, mode: int) -> None:
    if mode & 0o077:
        raise ConfigError(
            f"{path} has mode {mode & 0o777:03o}, so that others may read or change it: "
            f"run `chmod 600 {path}`"
        )


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

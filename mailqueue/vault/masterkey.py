"""Loads the master key from the environment or from a file in the data folder."""

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from mailqueue.core.errors import ConfigError
from mailqueue.settings.environment import Settings
from mailqueue.vault.sealing import KEY_BYTES

VARIABLE = "MAILQUEUE_MASTER_KEY"
PREVIOUS_VARIABLE = "MAILQUEUE_MASTER_KEY_PREVIOUS"
FILE_NAME = "master.key"
PREVIOUS_FILE_NAME = "master.key.previous"
_HEX = re.compile(r"[0-9A-Fa-f]{64}")


@dataclass(frozen=True, slots=True)
class MasterKey:
    """The key that wraps data keys. It is not stored in the database; its `id` is.

    `previous` is the key before it, while something may be wrapped by that.
    """

    key: bytes = field(repr=False)
    previous: "MasterKey | None" = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """Return an id that does not reveal the key: 16 hexadecimal digits of a hash."""
        return hashlib.sha256(b"mailqueue master key" + self.key).hexdigest()[:16]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all loaded keys, the current one first."""
        return (self.id,) if self.previous is None else (self.id, self.previous.id)

    def named(self, key_id: str) -> "MasterKey | None":
        """Return the key with that id, or None if it is not loaded."""
        if self.id == key_id:
            return self
        return None if self.previous is None else self.previous.named(key_id)


def load_master_key(
    folder: Path, text: str | None = None, *, previous: str | None = None
) -> MasterKey | None:
    """Load the master key from `text`, else from the folder's file; None if there is neither.

    The previous key is loaded in the same way.

    Raises:
        ConfigError: a key is not valid, or others can read the file; the message has the fix.
    """
    if text:
        key = parse_master_key(text, source=VARIABLE)
    elif (found := read_key_file(folder / FILE_NAME)) is not None:
        key = found
    else:
        return None
    if previous:
        before: MasterKey | None = parse_master_key(previous, source=PREVIOUS_VARIABLE)
    else:
        before = read_key_file(folder / PREVIOUS_FILE_NAME)
    return key if before is None or before.id == key.id else replace(key, previous=before)


def read_key_file(path: Path) -> MasterKey | None:
    """Load a key from a file that only its owner may read; None if the file does not exist.

    Raises:
        ConfigError: it has no key, or others can read it; the message has the fix.
    """
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
    """Load the master key of the settings: the variable, else the data folder's file."""
    given, before = settings.master_key, settings.master_key_previous
    return load_master_key(
        settings.data,
        given.reveal() if given else None,
        previous=before.reveal() if before else None,
    )


def require_master_key(folder: Path, text: str | None = None) -> MasterKey:
    """Load the master key.

    Raises:
        ConfigError: there is none; the message says how to create one.
    """
    key = load_master_key(folder, text)
    if key is None:
        raise ConfigError(
            f"{VARIABLE} is not set and {folder / FILE_NAME} does not exist: set it to 32 random "
            "bytes in base64, or run `mailqueue up`, which creates the file"
        )
    return key


def create_master_key(folder: Path) -> MasterKey:
    """Create the folder's key file with mode 600 and return its key; keep an existing file.

    The file is created atomically and flushed to disk: values sealed with a lost key can never be
    opened.
    """
    path = folder / FILE_NAME
    try:
        with _draft(folder) as name, suppress(FileExistsError):
            # link() fails if the file exists: two processes that start agree on one key.
            os.link(name, path)
        _flush_folder(folder)
    except OSError as exc:
        raise ConfigError(f"{path} cannot be created: {exc.strerror}") from exc
    return require_master_key(folder)


def replace_master_key(folder: Path) -> MasterKey:
    """Replace the key in the folder's file, and keep the previous one in a file beside it.

    Concurrent readers of the folder find the current key, and with a new one also the previous.

    Raises:
        ConfigError: there is no file, or an earlier replacement is not finished.
    """
    path, before = folder / FILE_NAME, folder / PREVIOUS_FILE_NAME
    old = read_key_file(path)
    if old is None:
        raise ConfigError(f"{path} does not exist: there is no key to replace")
    kept = read_key_file(before)
    if kept is not None and kept != old:
        raise ConfigError(
            f"{before} exists: run `mailqueue vault rotate`, and delete the file when nothing "
            "is wrapped by the previous key"
        )
    try:
        if kept is None:
            os.link(path, before)
        _flush_folder(folder)
        with _draft(folder) as name:
            owner = path.stat()
            os.chown(name, owner.st_uid, owner.st_gid)
            os.link(name, fresh := f"{name}.new")
            os.replace(fresh, path)
        _flush_folder(folder)
    except OSError as exc:
        raise ConfigError(f"{path} cannot be replaced: {exc.strerror}") from exc
    return require_master_key(folder)


@contextmanager
def _draft(folder: Path) -> Iterator[str]:
    """Yield the path of a file with a new key, mode 600, flushed to disk.

    Removed after the block.
    """
    with NamedTemporaryFile(dir=folder, prefix=f".{FILE_NAME}.") as draft:
        draft.write(base64.b64encode(os.urandom(KEY_BYTES)) + b"\n")
        draft.flush()
        os.fsync(draft.fileno())
        yield draft.name


def parse_master_key(text: str, *, source: str) -> MasterKey:
    """Parse a master key from 64 hexadecimal digits or from base64 (either alphabet)."""
    return MasterKey(parse_key(text, source=source))


def parse_key(text: str, *, source: str) -> bytes:
    """Parse 32 bytes from 64 hexadecimal digits or from base64 (either alphabet).

    Raises:
        ConfigError: it is neither; the message names the source, not the text.
    """
    text = text.strip()
    if _HEX.fullmatch(text):
        return bytes.fromhex(text)
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        key = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError(f"{source} must be {KEY_BYTES} bytes in base64 or hexadecimal digits")
    return key


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

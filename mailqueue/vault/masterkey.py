"""Where the master key comes from: the environment, else a file in the data folder."""

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
    """The key that wraps data keys. It never lies in the database; its `id` does.

    `previous` is the one before, while there may be something it has wrapped.
    """

    key: bytes = field(repr=False)
    previous: "MasterKey | None" = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """Name the key without telling it: 16 hexadecimal digits of a hash."""
        return hashlib.sha256(b"mailqueue master key" + self.key).hexdigest()[:16]

    @property
    def ids(self) -> tuple[str, ...]:
        """Name all keys at hand, the one in force first."""
        return (self.id,) if self.previous is None else (self.id, self.previous.id)

    def named(self, key_id: str) -> "MasterKey | None":
        """Return the key of that id; None if it is not at hand."""
        if self.id == key_id:
            return self
        return None if self.previous is None else self.previous.named(key_id)


def load_master_key(
    folder: Path, given: str | None = None, *, previous: str | None = None
) -> MasterKey | None:
    """Read the master key: the given text, else the folder's file; None if there is neither.

    The one before is read in the same way, and comes along with it.

    Raises:
        ConfigError: the text is no key, or the file may be read by others; says the fix.
    """
    if given:
        key = parse_master_key(given, source=VARIABLE)
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
    """Read a key from a file that only its owner may read; None if there is no file.

    Raises:
        ConfigError: it holds no key, or others may read it; says the fix.
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
    """Read the master key these settings lead to: the variable, else the data folder's file."""
    given, before = settings.master_key, settings.master_key_previous
    return load_master_key(
        settings.data,
        given.reveal() if given else None,
        previous=before.reveal() if before else None,
    )


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
    """Make the folder's key file, mode 600, and return its key. An existing file is kept as it is.

    The file appears complete or not at all, and reaches the disk before this returns: whatever was
    sealed with a key that got lost stays shut for good.
    """
    path = folder / FILE_NAME
    try:
        with _draft(folder) as name, suppress(FileExistsError):
            # A link is not made when the file exists: two starts agree on one key.
            os.link(name, path)
        _flush_folder(folder)
    except OSError as exc:
        raise ConfigError(f"{path} cannot be made: {exc.strerror}") from exc
    return require_master_key(folder)


def replace_master_key(folder: Path) -> MasterKey:
    """Put another key in the folder's file and keep the one before beside it.

    Whoever reads the folder at any moment finds the key in force, and where that is new the one
    before too.

    Raises:
        ConfigError: there is no file, or an earlier replacement has not been finished.
    """
    path, before = folder / FILE_NAME, folder / PREVIOUS_FILE_NAME
    old = read_key_file(path)
    if old is None:
        raise ConfigError(f"{path} does not exist: there is no key to replace")
    kept = read_key_file(before)
    if kept is not None and kept != old:
        raise ConfigError(
            f"{before} is there: run `mailqueue vault rotate`, and delete the file once nothing "
            "needs the key before any more"
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
    """Yield the path of a file with a new key, mode 600 and on the disk; gone after the block."""
    with NamedTemporaryFile(dir=folder, prefix=f".{FILE_NAME}.") as draft:
        draft.write(base64.b64encode(os.urandom(KEY_BYTES)) + b"\n")
        draft.flush()
        os.fsync(draft.fileno())
        yield draft.name


def parse_master_key(text: str, *, source: str) -> MasterKey:
    """Read a master key from 64 hexadecimal digits or from base64 (either alphabet)."""
    return MasterKey(parse_key(text, source=source))


def parse_key(text: str, *, source: str) -> bytes:
    """Read 32 bytes from 64 hexadecimal digits or from base64 (either alphabet).

    Raises:
        ConfigError: names the source, never shows the text.
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

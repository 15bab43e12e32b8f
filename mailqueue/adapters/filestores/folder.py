"""Files in a folder of this host or of a network share, readable by their owner only."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.ports.filestore import FileMissing, Listed

_CHUNK = 1 << 20
_DRAFTS = ".drafts"
_SOME = 1000


class FolderStore:
    """A folder; files become visible in it only when complete."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def url(self) -> str:
        return self._root.as_uri()

    @property
    def drafts(self) -> Path | None:
        folder = self._root / _DRAFTS
        with self._errors_translated():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    async def put(self, path: str, source: Path) -> None:
        """Store a file; it is on the disk when this returns (fsync)."""
        with self._errors_translated():
            await asyncio.to_thread(self._put, self._at(path), source)

    async def chunks(self, path: str) -> AsyncIterator[bytes]:
        """Yield the bytes of a file in chunks."""
        with self._errors_translated():
            try:
                file = self._at(path).open("rb")
            except FileNotFoundError as exc:
                if not (self._root / _DRAFTS).is_dir():  # created with the first file
                    raise Unavailable(
                        f"{self.url} contains no stored files: is it mounted?"
                    ) from exc
                raise FileMissing(f"{path} is not in {self.url}") from exc
            with file:
                while chunk := await asyncio.to_thread(file.read, _CHUNK):
                    yield chunk

    async def listed(self, folder: str) -> AsyncIterator[list[Listed]]:
        """Yield the files below a folder in batches, without drafts."""
        found = self._files(self._at(folder))
        with self._errors_translated():
            while some := await asyncio.to_thread(lambda: list(islice(found, _SOME))):
                yield some

    async def delete(self, path: str) -> None:
        """Delete a file; it is not an error if the file does not exist."""
        target = self._at(path)
        with self._errors_translated():
            target.unlink(missing_ok=True)
            if target.parent.is_dir():
                _flush(target.parent)

    def _files(self, top: Path) -> Iterator[Listed]:
        root = self._root.resolve()
        for folder, inner, names in os.walk(top):
            inner[:] = [name for name in inner if name != _DRAFTS]
            for name in names:
                path = Path(folder, name)
                try:
                    found = path.stat()
                except FileNotFoundError:
                    continue  # deleted in the meantime
                changed = datetime.fromtimestamp(found.st_mtime, UTC)
                yield Listed(path.relative_to(root).as_posix(), found.st_size, changed)

    def _put(self, target: Path, source: Path) -> None:
        new = [each for each in (target.parent, *target.parent.parents) if not each.exists()]
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._root / _DRAFTS / source.name
        if source.parent != draft.parent:
            draft.parent.mkdir(mode=0o700, exist_ok=True)
            shutil.copyfile(source, draft)
        draft.chmod(0o600)
        _flush(draft)
        draft.replace(target)
        for folder in {target.parent, *(each.parent for each in new)}:
            _flush(folder)

    def _at(self, path: str) -> Path:
        found = (self._root / path).resolve()
        if not found.is_relative_to(self._root.resolve()):
            raise ConfigError(f"{path} is not a path inside {self.url}")
        return found

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as exc:
            raise Unavailable(f"{exc.filename or self._root}: {exc.strerror}") from exc


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

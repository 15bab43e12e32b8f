"""Static files, each under a name that changes with its content, so that browsers keep them."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

SHARED = Path(__file__).parent / "static"
"""The files of `web`, for pages that use its macros."""
_TYPE_BY_SUFFIX = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file; `hashed_name` changes with its content."""

    content: bytes
    media_type: str
    hashed_name: str


class Assets:
    """The static files of some folders, served below one path.

    Raises:
        ValueError: two files have the same name.
    """

    def __init__(self, path: str, folders: Iterable[Path], *, is_public: bool = True) -> None:
        self._path = path
        self._kept = "public" if is_public else "private"  # private: by browsers alone
        self.files: Mapping[str, StaticFile] = MappingProxyType(dict(_files(folders)))
        self._names = {each.hashed_name: name for name, each in self.files.items()}

    def url(self, name: str) -> str:
        """Return the path of a file, under the name that changes with its content."""
        return f"{self._path}/{self.files[name].hashed_name}"

    async def respond(self, request: Request) -> Response:
        """Return the file `name` of a route.

        A name of another version is answered with the present content, which no cache stores: pages
        and files of two releases meet while processes are restarted one after another.
        """
        given = request.path_params["name"]
        name = self._names.get(given)
        is_present = name is not None
        file = self.files.get(name or _plain(given))
        if file is None:
            return PlainTextResponse("there is no such file\n", HTTPStatus.NOT_FOUND)
        kept = f"{self._kept}, max-age=31536000, immutable" if is_present else "no-store"
        return Response(file.content, media_type=file.media_type, headers={"Cache-Control": kept})


def _files(folders: Iterable[Path]) -> Iterable[tuple[str, StaticFile]]:
    seen: set[str] = set()
    for path in sorted(each for folder in folders for each in folder.rglob("*")):
        if path.suffix not in _TYPE_BY_SUFFIX:
            continue
        if path.name in seen:
            raise ValueError(f"two static files have the name {path.name}")
        seen.add(path.name)
        content = path.read_bytes()
        version = hashlib.sha256(content).hexdigest()[:12]
        hashed_name = f"{path.stem}.{version}{path.suffix}"
        yield path.name, StaticFile(content, _TYPE_BY_SUFFIX[path.suffix], hashed_name)


def _plain(name: str) -> str:
    """Return a name without the version that may be in it, `console.css` of `console.1f.css`."""
    stem, dot, suffix = name.rpartition(".")
    plain, _, version = stem.rpartition(".")
    is_versioned = len(version) == 12 and plain != ""
    return f"{plain}{dot}{suffix}" if is_versioned else name

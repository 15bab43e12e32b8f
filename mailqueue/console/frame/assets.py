"""Static files of the console's sections, each under a name that changes with its content."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_CONSOLE = Path(__file__).parent.parent
_TYPE_BY_SUFFIX = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file; `version` changes with its content."""

    content: bytes
    media_type: str
    version: str


def _asset(path: Path) -> StaticFile:
    content = path.read_bytes()
    version = hashlib.sha256(content).hexdigest()[:12]
    return StaticFile(content, _TYPE_BY_SUFFIX[path.suffix], version)


def _assets() -> dict[str, StaticFile]:
    found: dict[str, StaticFile] = {}
    for path in sorted(_CONSOLE.glob("*/static/**/*")):
        if path.suffix not in _TYPE_BY_SUFFIX:
            continue
        if path.name in found:
            raise ValueError(f"two static files have the name {path.name}")
        found[path.name] = _asset(path)
    return found


ASSETS = MappingProxyType(_assets())


def asset_url(name: str) -> str:
    """Return the path of a static file, with its version."""
    return f"/console/static/{name}?v={ASSETS[name].version}"

"""Renders the trap's pages; all text of messages is escaped."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_HERE = Path(__file__).parent
_TYPE_BY_SUFFIX = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file of the pages; `version` changes with its content."""

    content: bytes
    media_type: str
    version: str


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    version = hashlib.sha256(content).hexdigest()[:12]
    return Asset(content, _TYPE_BY_SUFFIX[path.suffix], version)


ASSETS = MappingProxyType(
    {path.name: _asset(path) for path in sorted((_HERE / "static").iterdir())}
)


def render(template: str, **values: object) -> str:
    """Return a rendered template."""
    return _TEMPLATES.get_template(template).render(values)


def shown_size(octets: int) -> str:
    """Return a size with its unit, such as 1.2 MB."""
    if octets < 1_000:
        return f"{octets} B"
    size = float(octets)
    for unit in ("kB", "MB"):
        size /= 1_000
        if size < 999.5:
            return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"
    return f"{size / 1_000:.1f} GB"


def shown_time(at: datetime) -> str:
    """Return a time in UTC for browsers without script; with script, pages show local time."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def shown_name(mailbox: str) -> str:
    """Return the name of a mailbox, else its address."""
    name = mailbox.partition("<")[0].strip().strip('"').strip()
    return name or mailbox.strip("<> ")


def _asset_url(name: str) -> str:
    return f"/trap/static/{name}?v={ASSETS[name].version}"


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = _asset_url
    environment.filters.update(size=shown_size, time=shown_time, name=shown_name)
    return environment


_TEMPLATES = _environment()

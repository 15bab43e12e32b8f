"""Renders the console's pages; every text is escaped."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined

from mailqueue.console.frame.assets import asset_url

_CONSOLE = Path(__file__).parent.parent


def render(template: str, **values: object) -> str:
    """Return a rendered template, named as `folder/file.html`."""
    return _TEMPLATES.get_template(template).render(values)


def shown_time(at: datetime | None) -> str:
    """Return a time in UTC for browsers without script; with script, pages show local time."""
    return "–" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def exact_time(at: datetime) -> str:
    """Return a time to the millisecond in RFC 3339, for machines and to be shown on hover."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown_duration(milliseconds: int | None) -> str:
    """Return a length of time with its unit."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    return (
        str(timedelta(seconds=round(milliseconds / 1000)))
        if milliseconds >= 60_000
        else (f"{milliseconds / 1000:.1f} s")
    )


def shown_size(count: int) -> str:
    """Return a number of bytes with its unit, such as 1.2 MB."""
    if count < 1_000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB"):
        size /= 1_000
        if size < 999.5:
            return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"
    return f"{size / 1_000:.1f} GB"


def words(name: str) -> str:
    """Return a name of the database as words, such as `hard bounce`."""
    return name.replace("_", " ")


def project_path(project: str, *parts: object, **query: object) -> str:
    """Return the path of a page of a project; empty parameters are left out."""
    path = "/".join(
        ("/console/projects", *(quote(str(part), safe="") for part in (project, *parts)))
    )
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def _environment() -> Environment:
    loaders = {
        folder.parent.name: FileSystemLoader(folder)
        for folder in sorted(_CONSOLE.glob("*/templates"))
    }
    environment = Environment(
        loader=PrefixLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(asset=asset_url, project_path=project_path)
    environment.filters.update(
        time=shown_time, exact=exact_time, duration=shown_duration, size=shown_size, words=words
    )
    return environment


_TEMPLATES = _environment()

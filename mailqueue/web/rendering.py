"""Makes the environments that render pages: every text is escaped, an unknown name is an error."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined

from mailqueue.web.charts import chart_lines

_SHARED = Path(__file__).parent / "templates"
_AGES = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"))
"""The units of an age in seconds, each with the smaller one beside it."""


def environment(folders: Mapping[str, Path]) -> Environment:
    """Return an environment of the templates in these folders, named as `folder/file.html`.

    Those of all pages are in it as `web/file.html`, and the filters below by their names.
    """
    found = Environment(
        loader=PrefixLoader(
            {name: FileSystemLoader(folder) for name, folder in {**folders, "web": _SHARED}.items()}
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(path_with=path_with, chart_lines=chart_lines)
    found.filters.update(
        time=shown_time,
        exact=exact_time,
        duration=shown_duration,
        age=shown_age,
        count=shown_count,
        counted=counted,
        share=shown_share,
        size=shown_size,
        words=words,
    )
    return found


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


def shown_age(age: timedelta | None) -> str:
    """Return an age in its largest unit and the next one, such as `2 h 5 min`."""
    if age is None:
        return "–"
    seconds = max(0, int(age.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    for large, large_unit, small, small_unit in _AGES:
        if seconds >= large:
            rest = seconds % large // small
            return f"{seconds // large} {large_unit}" + (f" {rest} {small_unit}" if rest else "")
    return f"{seconds // 60} min"


def shown_count(count: int) -> str:
    """Return a number with commas between groups of three digits."""
    return f"{count:,}"


def counted(count: int, one: str, several: str = "") -> str:
    """Return a number with its noun, such as `1 email` and `2,000 emails`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def shown_share(part: int, whole: int) -> str:
    """Return a part of a whole in percent; a dash of nothing."""
    if whole == 0:
        return "–"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 9.95 or percent == 0 else f"{percent:.1f} %"


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


def sentence(text: str) -> str:
    """Return an error text as a sentence. Pure."""
    begun = text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."


def path_with(path: str, **query: object) -> str:
    """Return a path with a query; empty parameters are left out."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path

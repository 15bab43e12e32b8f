"""Renders the trap's pages, and names their static files."""

from pathlib import Path

from jinja2 import Environment

from mailqueue.web.assets import Assets
from mailqueue.web.rendering import environment

_HERE = Path(__file__).parent
ASSETS = Assets("/trap/static", [_HERE / "static"], is_public=False)


def render(template: str, **values: object) -> str:
    """Return a rendered template."""
    return _TEMPLATES.get_template(f"trap/{template}").render(values)


def shown_name(mailbox: str) -> str:
    """Return the name of a mailbox, else its address."""
    name = mailbox.partition("<")[0].strip().strip('"').strip()
    return name or mailbox.strip("<> ")


def _environment() -> Environment:
    found = environment({"trap": _HERE / "templates"})
    found.globals["asset"] = ASSETS.url
    found.filters["name"] = shown_name
    return found


_TEMPLATES = _environment()

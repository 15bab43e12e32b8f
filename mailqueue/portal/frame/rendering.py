"""Renders the pages of persons, and names their static files."""

from pathlib import Path

from jinja2 import Environment

from mailqueue.web.assets import SHARED, Assets
from mailqueue.web.rendering import environment

_PORTAL = Path(__file__).parent.parent
ASSETS = Assets("/inbox-static", (*sorted(_PORTAL.glob("*/static")), SHARED))


def render(template: str, **values: object) -> str:
    """Return a rendered template, named as `folder/file.html`."""
    return _TEMPLATES.get_template(template).render(values)


def _environment() -> Environment:
    folders = {folder.parent.name: folder for folder in sorted(_PORTAL.glob("*/templates"))}
    found = environment(folders)
    found.globals.update(asset=ASSETS.url)
    return found


_TEMPLATES = _environment()

"""Renders the console's pages, and names their static files."""

from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment

from mailqueue.web.assets import SHARED, Assets
from mailqueue.web.rendering import environment, path_with

_CONSOLE = Path(__file__).parent.parent
ASSETS = Assets("/console/static", (*sorted(_CONSOLE.glob("*/static")), SHARED))


def render(template: str, **values: object) -> str:
    """Return a rendered template, named as `folder/file.html`."""
    return _TEMPLATES.get_template(template).render(values)


def project_path(project: str, *parts: object, **query: object) -> str:
    """Return the path of a page of a project; empty parameters are left out."""
    path = "/".join(
        ("/console/projects", *(quote(str(part), safe="") for part in (project, *parts)))
    )
    return path_with(path, **query)


def _environment() -> Environment:
    folders = {folder.parent.name: folder for folder in sorted(_CONSOLE.glob("*/templates"))}
    found = environment(folders)
    found.globals.update(asset=ASSETS.url, project_path=project_path)
    return found


_TEMPLATES = _environment()

"""MkDocs hook: pages from outside docs/ on the site, and folders in the navigation.

A link that leads to a file of the repository which is no page (LICENSE, a folder of samples)
becomes plain text; a link that leads nowhere is left alone, and the strict build reports it.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# Pages from outside docs/, by their path in the repository, with their path on the site.
OUTSIDE = {
    "README.md": "project/readme.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "sql/README.md": "project/database.md",
}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace each folder in the navigation by its pages, the index first."""
    config.nav = _expanded(config.nav or [])
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/."""
    for source, path in OUTSIDE.items():
        files.append(File.generated(config, path, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Rewrite links that leave or enter docs/."""
    path = page.file.src_uri
    source = next((name for name, at in OUTSIDE.items() if at == path), f"docs/{path}")
    return _LINK.sub(lambda link: _rewritten(link, source, path), markdown)


def _expanded(entries: list[Any]) -> list[Any]:
    made: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            made += [{title: _expanded(below)} for title, below in entry.items()]
        else:
            made += _pages(entry) if entry.endswith("/") else [entry]
    return made


def _pages(folder: str) -> list[str]:
    """Return the pages of a folder of docs/ by name, `index.md` first."""
    found = sorted(path.name for path in (ROOT / "docs" / folder).glob("*.md"))
    return [folder + name for name in sorted(found, key=lambda name: name != "index.md")]


def _rewritten(link: re.Match[str], source: str, path: str) -> str:
    """Return a link of the file `source` as it reads at `path` on the site."""
    label, target, anchor = link[1], link[2], link[3] or ""
    if "://" in target:
        return link[0]
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if there in OUTSIDE:
        on_site = OUTSIDE[there]
    elif there.startswith("docs/") and (ROOT / there).is_file():
        on_site = there.removeprefix("docs/")
    else:
        return label if (ROOT / there).exists() else link[0]
    return f"[{label}]({posixpath.relpath(on_site, posixpath.dirname(path) or '.')}{anchor})"

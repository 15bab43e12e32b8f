"""Links in the documentation are valid, and the files, tables and columns it names exist."""

import re
from pathlib import Path

from tests.docs.reading import anchors, links, name_of, pages, spans
from tests.rules.source import ROOT

_TOP = ("mailqueue", "sql", "tests", "docs", "scripts", "workers", "bench", "requirements", ".ci")
_PATHS = sorted(
    {
        (page, span)
        for page, span in spans()
        if re.fullmatch(rf"({'|'.join(map(re.escape, _TOP))})/[\w./*-]*", span)
    }
)


def test_every_link_leads_somewhere() -> None:
    broken = [
        f"{name_of(page)}: {link}"
        for page in pages()
        for link in links(page)
        if not _leads_somewhere(page, link)
    ]

    assert broken == [], "\n".join(broken)


def test_every_path_named_is_there() -> None:
    missing = [
        f"{page} names {path}" for page, path in _PATHS if not any(ROOT.glob(path.rstrip("/")))
    ]

    assert missing == [], "\n".join(missing)


def test_the_documentation_has_links_and_names_paths() -> None:
    assert len(_PATHS) > 100
    assert sum(len(links(page)) for page in pages()) > 100


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        waiting += [_target(page, link)[0] for link in links(page) if "://" not in link]

    assert set(pages()) <= reached


def _target(page: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = link.partition("#")
    return ((page.parent / path).resolve() if path else page, anchor)


def _leads_somewhere(page: Path, link: str) -> bool:
    if "://" in link:
        return True
    target, anchor = _target(page, link)
    return target.exists() and (not anchor or anchor in anchors(target))

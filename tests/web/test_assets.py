"""Static files: kept for ever under a name that changes with the content, and under no other."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from mailqueue.web.assets import Assets
from tests.rules.source import PACKAGE, files

OF_SCREENS = re.compile(
    r"matchMedia|\binnerWidth|\bouterWidth|\bscreen\.|(?:client|offset|scroll)Width"
    r"|ResizeObserver|getBoundingClientRect|getComputedStyle"
)
"""What a script reads of the screen or the style."""


def scripts() -> list[Path]:
    """Return the scripts of the pages, without those of others."""
    return [each for each in files(".js") if PACKAGE in each.parents and "vendor" not in each.parts]


def client_of(assets: Assets) -> TestClient:
    return TestClient(Starlette(routes=[Route("/static/{name}", assets.respond)]))


def test_a_file_is_kept_under_its_name_and_a_change_gives_it_another(tmp_path: Path) -> None:
    (tmp_path / "page.css").write_text("a {}")
    old = Assets("/static", [tmp_path])
    (tmp_path / "page.css").write_text("b {}")
    new = Assets("/static", [tmp_path], is_public=False)

    kept = client_of(old).get(old.url("page.css"))
    other = client_of(new).get(new.url("page.css"))

    assert old.url("page.css") != new.url("page.css")
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert other.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert kept.headers["content-type"] == "text/css; charset=utf-8"


def test_the_name_of_another_release_gets_the_present_file_which_is_not_kept(
    tmp_path: Path,
) -> None:
    (tmp_path / "page.min.css").write_text("a {}")
    old = Assets("/static", [tmp_path])
    (tmp_path / "page.min.css").write_text("b {}")
    new = Assets("/static", [tmp_path])

    for name in (old.url("page.min.css"), "/static/page.min.css"):
        answer = client_of(new).get(name)
        assert answer.text == "b {}"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "name", ["none.css", "page.txt", "..%2fpage.css", "page", ".", "page.css."]
)
def test_nothing_else_is_served(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "static"
    folder.mkdir()
    (tmp_path / "none.css").write_text("a {}")
    (folder / "page.css").write_text("a {}")
    (folder / "page.txt").write_text("secret")

    assert client_of(Assets("/static", [folder])).get(f"/static/{name}").status_code == 404


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "page.css").write_text("a {}")

    with pytest.raises(ValueError, match=r"page\.css"):
        Assets("/static", [tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.name)
def test_no_script_asks_for_the_width_or_the_theme_of_the_screen(script: Path) -> None:
    """A page that a browser has loaded is judged on each screen: its style alone depends on it."""
    found = OF_SCREENS.findall(script.read_text("utf-8"))

    assert found == []

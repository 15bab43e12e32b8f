"""The documentation site builds strictly, has every page in its navigation and can be searched."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rules.source import ROOT

BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict"]
_QUIET = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}


def build(project: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [*BUILD, "--config-file", str(project / "mkdocs.yml"), "--site-dir", str(site)]
    return subprocess.run(command, capture_output=True, text=True, env=_QUIET, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_on_the_site(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}

    assert [page for page in pages if not (site / page.with_suffix(".html")).is_file()] == []


def test_the_site_can_be_searched(site: Path) -> None:
    index: Any = json.loads((site / "search" / "search_index.json").read_text("utf-8"))

    found = [each["location"] for each in index["docs"] if "idempotency" in each["text"].lower()]
    assert any(location.startswith("sending.html") for location in found)
    assert any(location.startswith("project/readme.html") for location in found)


def test_a_link_that_leaves_the_docs_leads_to_the_page_on_the_site(site: Path) -> None:
    text = (site / "dba-guide.html").read_text("utf-8")

    assert 'href="project/database.html' in text


def test_a_broken_link_stops_the_build(tmp_path: Path) -> None:
    for name in ("docs", "scripts", "sql"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for path in (*ROOT.glob("*.md"), ROOT / "mkdocs.yml", ROOT / "LICENSE"):
        shutil.copy(path, tmp_path)
    with (tmp_path / "docs" / "index.md").open("a") as page:
        page.write("[one](gone.md) [two](events.md#gone) [three](../GONE.md)\n")

    done = build(tmp_path, tmp_path / "site")

    assert done.returncode == 1
    warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    named = [re.findall(r"'([^']+)'", line)[1] for line in warnings]
    assert sorted(named) == ["../GONE.md", "events.md#gone", "gone.md"]


def test_the_command_that_the_readme_names_runs_the_generator_of_the_site() -> None:
    """It installs what it needs: a first `./scripts/start` does not."""
    assert "`./scripts/docs serve`" in (ROOT / "README.md").read_text("utf-8")

    command = [str(ROOT / "scripts" / "docs"), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stdout.startswith("mkdocs, version "), done.stderr

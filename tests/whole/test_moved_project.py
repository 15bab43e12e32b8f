"""docs/regions.md: the blocks that move a project, run on two installations."""

import csv
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.docs.reading import blocks
from tests.whole.conftest import LendHome
from tests.whole.running import Home, up

pytestmark = pytest.mark.timeout(300)

FROM_OLD, TO_NEW = (
    block.text
    for block in blocks("bash")
    if block.page == "docs/regions.md" and "--project shop" in block.text
)
SHOP = ("--project", "shop")
ANN = (
    *("--first-name", "=Ann", "--time-zone", "Europe/Berlin", "--language", "de"),
    *("--date-of-birth", "1990-05-31", "--attribute", "plan=pro", "--attribute", 'tags=["a","b"]'),
    *("--consented-at", "2026-01-02T03:04:05Z", "--consent-source", "shop"),
    *("--consent-wording", 'Yes, "please"'),
)
OF_INSTALLATION = {"id", "created_at", "updated_at", "email_hash"}
"""Columns of exports that differ between installations."""


def follow(home: Home, block: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a block of the page against an installation, in a folder that both use."""
    return subprocess.run(
        ["bash", "-c", f'mailqueue() {{ "{sys.executable}" -m mailqueue "$@"; }}\n{block}'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=home.environment(),
    )


def exported(home: Home, *words: str) -> list[list[tuple[str, str]]]:
    """Return the rows of an export in order, without what each installation has of its own."""
    done = home.run(*words, *SHOP)
    assert done.returncode == 0, done.stderr
    rows = csv.DictReader(StringIO(done.stdout))
    return sorted([(k, v) for k, v in row.items() if k not in OF_INSTALLATION] for row in rows)


def test_a_project_moves_with_its_contacts_lists_and_suppressions(
    lend_home: LendHome, tmp_path: Path
) -> None:
    with (
        lend_home("old") as old,
        lend_home("new") as new,
        up(old, "--workers", "0"),
        up(new, "--workers", "0"),
    ):
        for home in (old, new):
            home.json("project", "add", "shop")
            home.json("list", "add", "news", *SHOP)
        old.json("contact", "put", "ann@example.com", *ANN, *SHOP)
        old.json("contact", "put", "zoë@exämple.com", *SHOP)
        old.json("list", "members", "add", "news", "ann@example.com", *SHOP)
        for address, words in (
            ("bob@example.com", ("--reason", "complaint", "--detail", 'by phone, "now"')),
            ("carl@example.com", ("--reason", "unsubscribed", "--category", "news")),
            ("dan@example.com", ("--reason", "paused", "--for", "30d")),
        ):
            old.json("suppression", "add", address, *words, *SHOP)

        for home, block in ((old, FROM_OLD), (new, TO_NEW)):
            done = follow(home, block, tmp_path)
            assert (done.returncode, done.stderr) == (0, "")
        for export in ("contact export", "contact export --list news", "suppression export"):
            command = export.split()
            assert exported(new, *command) == exported(old, *command) != []

        old.json("erase", "bob@example.com", *SHOP, "--yes")
        assert follow(old, FROM_OLD, tmp_path).returncode == 0
        done = follow(new, TO_NEW, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "2 there already, 0 bad lines" in done.stdout
        assert new.run("suppression", "check", "bob@example.com", *SHOP).returncode == 1

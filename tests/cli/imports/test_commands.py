"""`--background` of imports and `mailqueue import`: begin, follow, list and show them."""

import asyncio
import os
from pathlib import Path

import pytest

from mailqueue.cli.support import polling
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.cli.support.invoked import Cli
from tests.imports import steps

FILE = "email\nann@example.com\nnobody\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "persons.csv"
    path.write_text(FILE, "utf-8")
    return str(path)


def database_of(cli: Cli) -> DatabaseSettings:
    return DatabaseSettings(Secret(cli.database))


@pytest.mark.parametrize("kind", ["contact", "suppression"])
def test_an_import_is_begun_listed_and_shown_with_its_bad_lines(
    on_fresh_db: Cli, file: str, kind: str
) -> None:
    cli = on_fresh_db
    begun = cli.json(kind, "import", file, "--background")
    assert (begun["kind"], begun["state"], begun["file_name"]) == (
        *(f"{kind}s", "waiting"),
        "persons.csv",
    )
    asyncio.run(steps.worked(database_of(cli)))

    shown = cli.json("import", "show", begun["id"])
    assert (shown["state"], shown["taken"]) == ("done", {"added": 1})
    printed = cli("import", "show", begun["id"])
    assert "line 3: email: " in printed.stderr
    assert "1 added, 1 bad line" in printed.stdout
    assert [one["id"] for one in cli.json("import", "list")] == [begun["id"]]
    assert cli.json("import", "list", "--kind", f"{kind}s") != []
    other = "contacts" if kind == "suppression" else "suppressions"
    assert cli.json("import", "list", "--kind", other) == []


def test_the_command_that_is_named_shows_an_import_of_any_project(
    on_fresh_db: Cli, file: str
) -> None:
    cli = on_fresh_db
    assert cli("project", "add", "shop").exit_code == 0
    begun = cli("suppression", "import", file, "--background", "--project", "shop")
    _, _, named = begun.stdout.partition("; mailqueue ")
    words = named.removesuffix(" shows it\n").split()

    assert (words[:2], cli(*words).exit_code) == (["import", "show"], 0)


def test_waiting_ends_with_the_import_and_says_what_became_of_the_lines(
    on_fresh_db: Cli, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = on_fresh_db

    async def turn() -> None:
        await steps.worked(database_of(cli))

    monkeypatch.setattr(polling, "until_next_look", turn)
    result = cli("suppression", "import", file, "--reason", "complaint", "--background", "--wait")

    assert (result.exit_code, result.stdout) == (1, "1 added, 1 bad line\n")
    assert result.stderr.startswith("line 3: email: ")
    [row] = cli.json("suppression", "list")["data"]
    assert (row["email"], row["reason"]) == ("ann@example.com", "complaint")


def test_an_import_is_cancelled_and_then_no_more(on_fresh_db: Cli, file: str) -> None:
    cli = on_fresh_db
    begun = cli.json("contact", "import", file, "--background")
    cancelled = cli("import", "cancel", begun["id"])
    again = cli("import", "cancel", begun["id"])

    assert cancelled.stdout == f"import {begun['id']} is cancelled; 0 bad lines before\n"
    assert cli.json("import", "show", begun["id"])["state"] == "cancelled"
    assert again.exit_code != 0
    assert "the import has ended: it is cancelled" in again.stderr


def test_a_file_whose_name_is_not_utf8_is_imported(on_fresh_db: Cli, tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    Path(name).write_text(FILE, "utf-8")
    begun = on_fresh_db.json("contact", "import", name, "--background")

    assert begun["file_name"] == "caf\N{REPLACEMENT CHARACTER}.csv"


def test_standard_input_is_imported_in_the_background_too(on_fresh_db: Cli) -> None:
    begun = on_fresh_db.json("contact", "import", "-", "--background", stdin=FILE)

    assert (begun["file_name"], begun["lines"]) == (None, 3)


def test_options_that_exclude_each_other_are_refused_by_name(on_fresh_db: Cli, file: str) -> None:
    cli = on_fresh_db
    for words, named in ((("--wait",), "--wait"), (("--background", "--dry-run"), "--dry-run")):
        result = cli("contact", "import", file, *words)
        assert (result.exit_code, named in result.stderr) == (2, True)
    assert cli("contact", "import", file, "--background", "--list", "none").exit_code != 0
    assert cli.json("import", "list") == []

"""All command groups: suggestions, old names, `--data` and `--project` of every command."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mailqueue.cli.main import main
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.operations.overview import STATUSES
from mailqueue.settings.environment import DatabaseSettings, Settings
from tests.cli.support.invoked import Cli


def groups(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[click.Group]:
    """Yield every group of commands."""
    yield group
    for name, command in children(group):
        if isinstance(command, click.Group):
            yield from groups(command, (*path, name))


def children(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group by name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Yield every command that is no group."""
    for group in groups():
        for name, command in children(group):
            if not isinstance(command, click.Group):
                yield name, command


def test_every_group_is_of_the_one_kind() -> None:
    assert [group.name for group in groups() if not isinstance(group, CommandGroup)] == []
    assert len(list(groups())) > 15


def test_every_command_takes_data_after_it() -> None:
    flags = {name: {flag for each in one.params for flag in each.opts} for name, one in leaves()}
    assert [name for name, those in flags.items() if "--data" not in those] == []


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        (("doctr",), "there is no command 'doctr'; did you mean doctor?"),
        (("sendr",), "did you mean sender or send?"),
        (("sender", "lst"), "there is no command 'lst'; did you mean list?"),
        (("template", "part", "lits"), "did you mean list?"),
        (("email", "LIST"), "did you mean list?"),
        (("xyzzy",), "error: there is no command 'xyzzy'\n"),
        (("sender", "add", "--hosst", "x"), "--host"),
        (("--bogus",), "error: No such option '--bogus'."),
        (("email", "show"), "error: Missing argument 'ID'."),
    ],
)
def test_wrong_usage_ends_with_a_line_that_says_what_is_meant(
    words: tuple[str, ...], suggested: str
) -> None:
    refused = CliRunner().invoke(main, words, prog_name="mailqueue")

    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert suggested in refused.stderr
    assert refused.stderr.startswith("Usage: mailqueue")
    [error] = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
    assert refused.stderr.endswith(f"{error}\n")


def test_every_command_and_option_says_what_it_does() -> None:
    silent = [name for name, one in leaves() if not (one.help or "").strip()]
    unexplained = [
        f"{name} {option.opts[-1]}"
        for name, one in leaves()
        for option in one.params
        if isinstance(option, click.Option) and not option.hidden and not option.help
    ]

    assert (silent, unexplained) == ([], [])


OLD_NAMES = [
    (group.name, old, new)
    for group in groups()
    if isinstance(group, CommandGroup)
    for old, new in group.old_names.items()
]


@pytest.mark.parametrize(("group", "old", "new"), OLD_NAMES)
def test_an_old_name_means_the_new_one_and_is_shown_nowhere(group: str, old: str, new: str) -> None:
    [found] = [one for one in groups() if one.name == group]
    context = click.Context(found)

    assert found.get_command(context, old) is found.get_command(context, new) is not None
    assert old not in found.list_commands(context)
    name, _, _ = found.resolve_command(context, [old])
    assert name == new


def test_there_are_old_names() -> None:
    assert ("key", "create", "add") in OLD_NAMES
    assert ("project", "delete", "remove") in OLD_NAMES


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_data_folder_is_named_before_or_after_a_command(
    on_shared_db: Cli, tmp_path: Path, place: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "database_url").write_text(on_shared_db.database)
    without: dict[str, str | None] = {"MAILQUEUE_DATABASE_URL": None, "MAILQUEUE_DATA": None}
    data = ("--data", str(other))
    words = (*data, "key", "list") if place == "before" else ("key", "list", *data)

    assert on_shared_db("key", "list", "--data", str(tmp_path), env=without).exit_code != 0
    found = on_shared_db(*words, env=without)
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize("command", ["api", "console"])
@pytest.mark.parametrize("place", ["before", "after"])
def test_what_serves_takes_the_data_folder_as_other_commands_do(
    on_shared_db: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, place: str
) -> None:
    (tmp_path / "database_url").write_text(on_shared_db.database)
    served: list[DatabaseSettings] = []

    async def serve(_: object, settings: Settings) -> None:
        served.append(settings.database)

    monkeypatch.setattr("mailqueue.cli.services.serve", serve)
    data = ("--data", str(tmp_path))
    words = (*data, command) if place == "before" else (command, *data)

    done = on_shared_db(*words, env={"MAILQUEUE_DATABASE_URL": None, "MAILQUEUE_DATA": None})

    assert done.exit_code == 0, done.output
    assert [one.url and one.url.reveal() for one in served] == [on_shared_db.database]


def test_the_project_is_named_before_or_after_a_command(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    assert cli("project", "add", "shop").exit_code == 0
    assert cli("--project", "shop", "key", "add", "web").exit_code == 0

    def keys(*words: str) -> list[str]:
        return [one["name"] for one in cli.json(*words)["data"]]

    assert keys("key", "list", "--project", "shop") == ["web"]
    assert keys("--project", "shop", "key", "list") == ["web"]
    assert keys("key", "list") == []
    assert keys("--project", "shop", "key", "list", "--project", "default") == []
    for words in (
        ("tracking", "show", "shop"),
        ("tracking", "show", "--project", "shop"),
        ("tracking", "show", "--project=shop"),
        ("--project", "shop", "tracking", "show"),
    ):
        assert cli.json(*words)["domain"] is None, words
    assert cli("tracking", "show", "--project").exit_code == 2
    refused = cli("--project", "shop", "doctor")
    assert (refused.exit_code, "`doctor` takes no --project" in refused.stderr) == (2, True)


def test_the_state_of_one_project_is_shown(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    assert cli("project", "add", "shop").exit_code == 0
    mail = ("send", "--to", "ann@example.com", "--subject", "Hi", "--text", "Hi")
    for _ in range(2):
        assert cli(*mail, "--project", "shop").exit_code == 0
    assert cli(*mail).exit_code == 0

    shop, all_ = cli.json("status", "--project", "shop"), cli.json("status")

    assert {lane["project"] for lane in shop["lanes"]} == {"shop"}
    assert shop["totals"] == dict.fromkeys(STATUSES, 0) | {"pending": 2}
    assert all_["totals"]["pending"] == 3
    assert cli("status", "--project", "shop").exit_code == 0
    assert cli("status", "--project", "none").stderr == "error: no project none\n"

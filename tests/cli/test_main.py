"""The command group: starts fast, prints one line for an error."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mailqueue.cli.commands import Lazy
from mailqueue.cli.main import COMMANDS, LazyGroup, load, main
from mailqueue.core.errors import ConfigError, InvalidField, MailqueueError, Unavailable

ROOT = Path(__file__).parents[2]
HEAVY = ("psycopg", "pydantic", "pydantic_settings", "rich", "starlette", "cryptography", "asyncio")


@pytest.mark.deep
def test_help_lists_every_command_without_importing_what_they_need() -> None:
    script = (
        "import sys; from mailqueue.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    assert "HEAVY []" in done.stdout
    for name, lazy in COMMANDS.items():
        assert name in done.stdout
        assert lazy.summary in done.stdout


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_loads_and_has_help_with_examples(name: str) -> None:
    command = load(COMMANDS[name])

    result = CliRunner().invoke(command, ["--help"])

    assert result.exit_code == 0, result.output
    assert "mailqueue " + name in result.output
    assert command.help is not None


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidField("port", "must be 1 to 65535, got 0"), 1),
        (Unavailable("no PostgreSQL answers at 127.0.0.1:5432"), 3),
        (ConfigError("MAILQUEUE_PORT must be a number"), 4),
    ],
)
def test_an_error_of_ours_is_one_line_on_standard_error(error: MailqueueError, code: int) -> None:
    result = CliRunner().invoke(group_that_raises(error), ["go"])

    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr == f"error: {error}\n"


def test_several_faults_are_a_line_each() -> None:
    result = CliRunner().invoke(group_that_raises(ConfigError("A: first\nB: second")), ["go"])

    assert result.stderr == "error: A: first\nerror: B: second\n"


def test_wrong_usage_ends_with_2() -> None:
    assert CliRunner().invoke(main, ["no-such-command"]).exit_code == 2


def test_the_version_told_is_the_one_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    result = CliRunner().invoke(main, ["--version"])

    assert result.output == f"mailqueue {project['version']}\n"


def test_a_table_entry_that_is_no_command_is_noticed() -> None:
    with pytest.raises(TypeError, match="not a click command"):
        load(Lazy("mailqueue.cli.main:COMMANDS", ""))


def group_that_raises(error: MailqueueError) -> click.Group:
    class Group(LazyGroup):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
            return go

    @click.command
    def go() -> None:
        raise error

    return Group(name="g", sections={"Commands": {"go": Lazy("", "")}})


@pytest.mark.deep
def test_up_refuses_a_faulty_setting_before_it_loads_what_it_runs() -> None:
    script = (
        "import sys; from mailqueue.cli.main import main\n"
        "try: main(['up'])\n"
        "except SystemExit as end: print('CODE', end.code)\n"
        "print('LOADED', [name for name in ('starlette', 'mailqueue.api') if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=os.environ | {"MAILQUEUE_PORT": "many"},
    )

    assert "CODE 4" in done.stdout
    assert "MAILQUEUE_PORT" in done.stderr
    assert "LOADED []" in done.stdout


@pytest.mark.deep
@pytest.mark.parametrize("module", ["send", "queues"])
def test_the_parent_of_workers_loads_neither_what_they_run_nor_the_http_server(module: str) -> None:
    heavy = ("starlette", "mailqueue.api", "mailqueue.mail.send", "mailqueue.rendering")
    script = (
        f"import sys, mailqueue.cli.worker.{module}\n"
        f"print('LOADED', [name for name in {heavy!r} if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "LOADED []\n"

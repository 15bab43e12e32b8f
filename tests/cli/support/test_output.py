"""Output of commands, for people and for programs."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import click
import pytest
from click.testing import CliRunner

from mailqueue.cli.support.answer import json_option, print_message
from mailqueue.cli.support.output import Column, emit, examples, facts, paint, show, table
from mailqueue.core.secret import Secret

COLUMNS = (Column("name", "NAME"), Column("sent", "SENT", numeric=True))


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    sent: int


def test_a_table_without_a_terminal_is_plain_and_aligned(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table([Row("relay", 7), {"name": "a", "sent": 1200}], COLUMNS)

    assert capsys.readouterr().out == "NAME   SENT\nrelay     7\na      1200\n"


def test_a_table_without_rows_shows_its_headings(capsys: pytest.CaptureFixture[str]) -> None:
    table([], COLUMNS)

    assert capsys.readouterr().out == "NAME  SENT\n"


def test_a_table_on_a_terminal_shows_markup_as_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    table([Row("[red]x[/red]", 1)], COLUMNS)

    assert "[red]x[/red]" in capsys.readouterr().out


def test_json_is_one_document_and_hides_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    emit(
        {
            "id": UUID(int=1),
            "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            "wait": timedelta(milliseconds=1500),
            "password": Secret("hunter2"),
            "row": Row("é", 1),
        }
    )

    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {
        "id": str(UUID(int=1)),
        "at": "2026-01-02T03:04:05Z",
        "wait": 1.5,
        "password": "***",
        "row": {"name": "é", "sent": 1},
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        ("", "-"),
        (0, "0"),
        (False, "no"),
        ([], "-"),
        (["a", None], "a, -"),
        (timedelta(milliseconds=100), "100 ms"),
        (timedelta(seconds=90), "1.5 min"),
        (timedelta(days=4), "4 d"),
        ("a\x1b[2Jb\nc\u202e", "a\ufffd[2Jb\ufffdc\ufffd"),
    ],
)
def test_values_are_shown_on_one_line_that_cannot_move_the_cursor(
    value: object, shown: str
) -> None:
    assert show(value) == shown


def test_facts_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    facts([("name", "relay"), ("daily limit", None)])

    assert capsys.readouterr().out == "name         relay\ndaily limit  -\n"


def test_colours_appear_on_a_terminal_only_and_not_with_no_color(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert paint("x", colour="red") == "x"

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert paint("x", colour="red").startswith("\x1b[31m")

    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("x", colour="red") == "x"


def test_the_json_option_and_the_examples_stand_in_the_help() -> None:
    document: Any = {"is": "JSON"}

    @click.command(epilog=examples("mailqueue x --json", "mailqueue x"))
    @json_option
    def x() -> None:
        print_message(document, "text")

    runner = CliRunner()

    assert runner.invoke(x, ["--json"]).output == '{"is":"JSON"}\n'
    assert runner.invoke(x).output == "text\n"
    help_text = runner.invoke(x, ["--help"]).output
    assert "  mailqueue x --json\n" in help_text
    assert "--json" in help_text

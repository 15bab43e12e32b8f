"""`mailqueue template`, and mail from a template by `send` and `enqueue`."""

import json
from pathlib import Path
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli

KEPT = """
    SELECT q.recipient_email, q.custom_data, c.subject, c.template_language
    FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c ON c.id = q.content_id
    ORDER BY q.recipient_email
"""
SCHEMA = {"properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]}


@pytest.fixture
def welcome(on_fresh_db: Cli, tmp_path: Path) -> Cli:
    """A published template with a translation."""
    german = tmp_path / "de.json"
    german.write_text(json.dumps({"subject": "Hallo {{ name }}", "text_body": "x"}))
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    assert on_fresh_db("template", "create", "welcome").exit_code == 0
    words = ("--subject", "Hi {{ name }}", "--text", "Hello {{ name }}", "--publish")
    more = ("--translation", f"de={german}", "--schema-file", str(schema))
    made = on_fresh_db("template", "version", "welcome", *words, *more)
    assert made.stdout == "welcome@1 is published\n", made.output
    return on_fresh_db


def kept(cli: Cli) -> list[tuple[Any, ...]]:
    async def read(conn: Conn) -> list[tuple[Any, ...]]:
        return await make.rows(conn, KEPT)

    return cli.sql(read)


def test_versions_are_shown_compared_tried_and_put_away(welcome: Cli) -> None:
    second = welcome.json("template", "version", "welcome", "--subject", "Ho", "--text", "Ho")
    assert (second["version"], second["status"]) == (2, "draft")

    listed = welcome.json("template", "list")
    assert [
        (one["slug"], one["published_version"], one["newest_version"]) for one in listed["data"]
    ] == [("welcome", 1, 2)]
    shown = welcome("template", "show", "welcome").stdout
    assert "draft" in shown
    assert "de, en" in shown
    seen = welcome.json("template", "preview", "welcome", "--var", "name=Ann", "--language", "de")
    assert (seen["version"], seen["subject"]) == (1, "Hallo Ann")
    assert "-Hi {{ name }}\n+Ho" in welcome("template", "diff", "welcome", "1", "2").stdout
    assert welcome.json("template", "publish", "welcome")["version"] == 2
    assert welcome("template", "archive", "welcome").stdout == "welcome@2 is archived\n"
    assert welcome("template", "delete", "welcome", "--yes").exit_code == 0
    assert welcome.json("template", "list")["data"] == []


def test_what_is_said_about_a_template_changes(welcome: Cli) -> None:
    changed = welcome.json("template", "change", "welcome", "--name", "Hi", "--category", "news")

    assert (changed["name"], changed["category"], changed["published_version"]) == ("Hi", "news", 1)
    assert welcome("template", "change", "welcome").exit_code == 2
    assert welcome("template", "change", "welcome", "--language", "german").exit_code == 1


def test_what_does_not_compile_is_refused_in_one_line(welcome: Cli) -> None:
    words = ("--subject", "x", "--text", "{{range .Items}}x{{end}}")

    refused = welcome("template", "version", "welcome", *words)

    assert refused.exit_code == 1
    assert refused.stderr == (
        "error: text_body: line 1: {{range .Items}} is Go syntax: write "
        "{% for item in Items %} … {% endfor %}\n"
    )


def test_parts_and_copies(welcome: Cli, tmp_path: Path) -> None:
    (tmp_path / "foot.txt").write_text("foot of {{ name }}")
    put = ("part", "put", "foot", "--file", str(tmp_path / "foot.txt"), "--platform")
    assert welcome("template", *put).exit_code == 0
    words = ("--subject", "x", "--text", "{% include 'foot' %}", "--publish")
    welcome("template", "version", "welcome", *words)
    welcome("project", "add", "shop")

    copy = welcome.json("template", "clone", "welcome", "--to", "shop", "--as", "hello")
    assert welcome("template", "part", "delete", "foot", "--platform", "--yes").exit_code == 0
    given = ("hello", "--project", "shop", "--var", "name=Ann")
    seen = welcome.json("template", "preview", *given)

    assert (copy["slug"], copy["published_version"]) == ("hello", 1)
    assert seen["text_body"] == "foot of Ann"
    assert welcome.json("template", "part", "list")["data"] == []


def test_send_names_a_template_and_its_variables(welcome: Cli) -> None:
    to = ("send", "--to", "ann@example.com", "--template", "welcome")

    sent = welcome(*to, "--language", "de", "--vars", '{"age": 7}', "--var", "name=Ann")

    assert sent.exit_code == 0, sent.output
    assert kept(welcome) == [
        ("ann@example.com", {"variables": {"age": 7, "name": "Ann"}}, "Hallo {{ name }}", "de")
    ]
    for words, why in (
        (("--var", "name=A"), "variables.name: "),  # the whole schema, not only what SQL knows
        ((), "variables: "),
    ):
        refused = welcome(*to, *words)
        assert (refused.exit_code, why in refused.stderr) == (1, True), refused.output
    assert welcome("send", "--to", "a@example.com", "--text", "x", "--var", "a=b").exit_code == 2


def test_each_line_of_a_file_is_rendered_from_a_template(welcome: Cli) -> None:
    people = "email,name\nann@example.com,Ann\nbob@example.com,B\ncy@example.com,Cy\n"

    result = welcome("enqueue", "-", "--template", "welcome", stdin=people)
    again = welcome("enqueue", "-", "--template", "welcome", stdin=people)

    assert "2 queued, 0 already queued, 0 suppressed, 1 bad line" in result.stdout
    assert result.stderr.startswith("line 3: variables.name: ")
    assert "0 queued, 2 already queued" in again.stdout
    assert [(row[0], row[1]["variables"]["name"]) for row in kept(welcome)] == [
        ("ann@example.com", "Ann"),
        ("cy@example.com", "Cy"),
    ]

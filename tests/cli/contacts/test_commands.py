"""`mailqueue contact` and `mailqueue list`."""

import csv
import io

from tests import make
from tests.cli.support.invoked import Cli


def test_a_contact_is_put_shown_changed_listed_and_removed(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    words = ("--first-name", "Ann", "--attribute", "plan=pro", "--attribute", "n=1")
    made = cli.json("contact", "put", "ann@example.com", *words)
    assert (made["first_name"], made["attributes"]) == ("Ann", {"plan": "pro", "n": 1})
    again = cli.json("contact", "put", "ANN@example.com", "--first-name", "", "--attribute", "n=")
    assert (again["id"], again["first_name"]) == (made["id"], None)
    assert again["attributes"] == {"plan": "pro"}
    moved = cli.json("contact", "change", made["id"], "--email", "lee@example.com")
    assert moved["email"] == "lee@example.com"
    nothing = cli("contact", "change", "lee@example.com")
    assert (nothing.exit_code, "at least one field" in nothing.stderr) == (1, True)
    listed = cli.json("contact", "list", "--condition", '$.attributes.plan == "pro"')
    assert [one["email"] for one in listed["data"]] == ["lee@example.com"]
    assert "lee@example.com" in cli("contact", "list").stdout
    bad = cli("contact", "put", "x@example.com", "--time-zone", "Mars/Base")
    assert (bad.exit_code, "time_zone" in bad.stderr) == (1, True)

    gone = cli.json("contact", "remove", "lee@example.com", "--yes")
    assert gone["cancelled"] == 0
    assert cli("contact", "show", "lee@example.com").exit_code == 1


def test_a_file_is_imported_into_a_list_and_exported(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.json("list", "add", "news", "--description", "Monthly news")
    lines = "email,first_name,plan\na@example.com,Ann,pro\nnobody,,\nb@example.com,=1,free\n"

    tried = cli("contact", "import", "-", "--dry-run", stdin=lines)
    assert tried.exit_code == 1
    assert tried.stdout == "2 would be added, 0 changed, 0 unchanged, 1 bad line\n"
    assert tried.stderr.startswith("line 3: email: ")
    done = cli.json("contact", "import", "-", "--list", "news", stdin=lines, exit_code=1)
    assert (done["added"], done["bad"], done["errors"][0]["line"]) == (2, 1, 3)
    again = cli.json("contact", "import", "-", "--list", "news", stdin=lines, exit_code=1)
    assert (again["added"], again["unchanged"]) == (0, 2)

    found = list(csv.DictReader(io.StringIO(cli("contact", "export", "--list", "news").stdout)))
    assert sorted((one["email"], one["first_name"]) for one in found) == [
        ("a@example.com", "Ann"),
        ("b@example.com", "'=1"),
    ]
    shown = cli("contact", "show", "a@example.com").stdout
    assert "news" in shown


def test_a_full_project_is_said_in_one_line(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    assert cli("project", "change", "default", "--max-contacts", "1").exit_code == 0
    cli.json("contact", "put", "a@example.com")

    full = cli("contact", "put", "b@example.com")

    assert full.exit_code == 1
    assert "project default is full: it has 1 contacts and may have 1" in full.stderr


def test_contacts_that_have_not_confirmed_are_listed(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.json("contact", "put", "ann@example.com")
    cli.json("list", "add", "news", "--opt-in", "confirmed")
    cli.json("list", "members", "add", "news", "ann@example.com")

    pending = cli.json("list", "members", "list", "news", "--status", "pending")

    assert [one["email"] for one in pending["data"]] == ["ann@example.com"]
    assert cli.json("list", "members", "list", "news")["data"] == []


def test_a_list_is_added_counted_tried_sent_to_and_removed(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.sql(lambda conn: make.sender_account(conn, name="relay"))
    for name in ("ann", "bob"):
        cli.json("contact", "put", f"{name}@example.com", "--attribute", f"name={name}")
    cli.json("list", "add", "news")
    people = ("ann@example.com", "bob@example.com")
    assert cli.json("list", "members", "add", "news", *people)["changed"] == 2
    assert cli.json("list", "members", "remove", "news", "bob@example.com")["changed"] == 1
    listed = cli.json("list", "members", "list", "news")
    assert [one["email"] for one in listed["data"]] == ["ann@example.com"]
    assert cli.json("list", "count", "news")["contacts"] == 1
    assert cli.json("list", "try", '$.attributes.name == "bob"')["contacts"] == 1
    changed = cli.json("list", "change", "news", "--opt-in", "recorded", "--description", "x")
    assert (changed["opt_in"], changed["description"]) == ("recorded", "x")
    assert [one["name"] for one in cli.json("list", "list")["data"]] == ["news"]
    cli.json("list", "change", "news", "--opt-in", "none")

    content = ("--subject", "We moved", "--text", "-")
    tried = cli("list", "send", "news", *content, "--dry-run", stdin="Hello")
    assert tried.stdout.startswith("1 contacts; 0 of the first 1 are suppressed")
    begun = cli.json("list", "send", "news", *content, stdin="Hello")
    count = cli.sql(
        lambda conn: make.scalar(
            conn, "SELECT count(*) FROM mailqueue.list_sends WHERE batch_id = %s", begun["batch_id"]
        )
    )
    assert count == 1
    nobody = cli("list", "send", "nobody", *content, stdin="Hello")
    assert (nobody.exit_code, "there is no list" in nobody.stderr) == (1, True)
    assert cli("list", "remove", "news", "--yes").stdout == "list news is removed\n"

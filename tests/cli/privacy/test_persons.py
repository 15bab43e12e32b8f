"""`mailqueue category`, `suppression show`, `export-person` and `erase`: arguments and output."""

import json

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli


def test_categories_are_added_changed_listed_and_removed(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    words = (
        "--name",
        "Tips",
        "--translation",
        "de=Tipps|Jede Woche",
        "--translation",
        "fr=Conseils",
    )
    made = cli.json("category", "add", "tips", *words)
    assert made["translations"]["de"] == {"name": "Tipps", "description": "Jede Woche"}
    assert cli("category", "add", "tips", "--name", "Tips").exit_code == 1

    changed = cli.json("category", "change", "tips", "--required", "--translation", "de=Hinweise")
    assert (changed["is_required"], changed["name"]) == (True, "Tips")
    assert set(changed["translations"]) == {"de", "fr"}
    assert changed["translations"]["de"] == {"name": "Hinweise", "description": None}
    assert "de, fr" in cli("category", "list").stdout

    assert (
        cli("category", "remove", "tips", "--yes").stdout
        == "tips is removed from the preference centre\n"
    )
    assert cli.json("category", "list") == {"data": []}
    assert cli("category", "remove", "tips", "--yes").stderr == "error: no category tips\n"
    assert "lower-case letters" in cli("category", "add", "Ö", "--name", "x").stderr


def test_a_suppression_is_shown_with_its_past(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli("suppression", "add", "ann@example.com", "--detail", "asked by phone")
    cli("suppression", "remove", "ann@example.com", "--why", "changed her mind")
    cli("suppression", "add", "ann@example.com", "--category", "*")

    shown = cli.json("suppression", "show", "Ann@example.com")
    told = cli("suppression", "show", shown["email_hash"]).stdout

    assert [(one["category"], one["reason"]) for one in shown["suppressions"]] == [("*", "manual")]
    (past,) = shown["history"]
    assert (past["detail"], past["ended_why"]) == ("asked by phone", "changed her mind")
    assert "changed her mind" in told
    nobody = cli("suppression", "show", "bob@example.com")
    assert nobody.stdout == "bob@example.com is not suppressed\n"


def test_a_person_is_counted_exported_and_erased(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    assert cli("project", "add", "shop").exit_code == 0

    async def mailed(conn: Conn) -> None:
        await make.sender_account(conn)
        await make.queued_email(conn, recipient_email="ann@example.com", subject="Your illness")

    cli.sql(mailed)
    counted = cli.json("erase", "ann@example.com")
    told = cli("erase", "ann@example.com")
    exported = json.loads(cli("export-person", "ann@example.com").stdout)

    assert {one["table"] for one in counted["rows"]} == {"email_queue"}
    assert (told.exit_code, "run it again with --yes" in told.stderr) == (0, True)
    assert [one["project"] for one in exported["projects"]] == ["default"]
    assert exported["projects"][0]["mails"][0]["content"]["subject"] == "Your illness"

    done = cli.json("erase", "ANN@example.com", "--yes", "--suppress")

    assert done["erased"] is True
    assert [(one["project"], one["rows"]["mails"]) for one in done["projects"]] == [("default", 1)]
    assert cli("erase", "ann@example.com").stdout == "no row contains this address\n"
    checked = cli.json("suppression", "check", "ann@example.com", exit_code=1)
    assert checked["suppressions"][0]["email"] is None
    assert cli.json("erase", "--unfinished")["projects"] == []
    assert cli("erase").exit_code == 2
    assert cli("erase", "nobody", "--yes").exit_code == 1
    assert cli("erase", "x@example.com", "--project", "none", "--yes").exit_code == 1


def test_the_colour_of_a_projects_pages_is_a_setting(on_fresh_db: Cli) -> None:
    cli = on_fresh_db

    assert cli("project", "set", "default", "--brand-color", "#0B6E4F").exit_code == 0
    refused = cli("project", "set", "default", "--brand-color", "red;}")

    assert "brand_color: a colour such as #0b6e4f is needed" in refused.stderr
    shown = cli.sql(lambda conn: make.scalar(conn, "SELECT brand_color FROM mailqueue.projects"))
    assert shown == "#0b6e4f"

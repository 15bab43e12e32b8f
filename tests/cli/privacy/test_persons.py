"""`mailqueue category`, `suppression show`, `export-person` and `erase`: arguments and output."""

import json
from pathlib import Path

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


def test_texts_of_a_projects_pages_come_from_a_file(on_fresh_db: Cli, tmp_path: Path) -> None:
    cli = on_fresh_db
    file, wrong = tmp_path / "texts.json", tmp_path / "wrong.json"
    file.write_text('{"de": {"intro": "Wähle Post von {project}."}}', "utf-8")
    other = tmp_path / "other.json"
    other.write_text('{"en": {"intro": "Hi", "nothing": "x"}}', "utf-8")
    wrong.write_text("{'de'", "utf-8")
    binary = tmp_path / "picture.png"
    binary.write_bytes(b"\x89PNG")

    made = cli("project", "change", "default", "--page-texts", str(file), "--json")
    shown = cli("project", "show", "default").stdout
    unknown = cli("project", "change", "default", "--page-texts", str(other))
    no_json = cli("project", "change", "default", "--page-texts", str(wrong))
    no_text = cli("project", "change", "default", "--page-texts", str(binary))
    no_file = cli("project", "change", "default", "--page-texts", str(tmp_path / "none.json"))
    kept = json.loads(cli("project", "show", "default", "--json").stdout)["page_texts"]
    reset = cli("project", "change", "default", "--page-texts", "none", "--json")

    assert json.loads(made.stdout)["page_texts"] == json.loads(file.read_text("utf-8")) == kept
    assert "page texts" in shown
    assert "de (1)" in shown
    assert "page_texts.en.nothing: there is no text of this name" in unknown.stderr
    assert "page_texts: must be JSON" in no_json.stderr
    assert "not encoded in UTF-8" in no_text.stderr
    assert [one.exit_code for one in (unknown, no_json, no_text, no_file)] == [1, 1, 2, 2]
    assert json.loads(reset.stdout)["page_texts"] is None


def test_the_colour_of_a_projects_pages_is_a_setting(on_fresh_db: Cli) -> None:
    cli = on_fresh_db

    assert cli("project", "set", "default", "--brand-color", "#0B6E4F").exit_code == 0
    refused = cli("project", "set", "default", "--brand-color", "red;}")

    assert "brand_color: a colour such as #0b6e4f is needed" in refused.stderr
    shown = cli.sql(lambda conn: make.scalar(conn, "SELECT brand_color FROM mailqueue.projects"))
    assert shown == "#0b6e4f"

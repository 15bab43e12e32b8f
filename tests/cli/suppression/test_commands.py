"""`mailqueue suppression`: arguments and output."""

import json

from tests.cli.support.invoked import Cli


def test_an_address_is_added_found_and_removed(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    words = ("Ann@example.com", "b@example.com", "--for", "30d")
    one, _ = cli.json("suppression", "add", *words)["data"]
    assert (one["status"], one["email"]) == ("added", "ann@example.com")
    assert "added" in cli("suppression", "add", "c@example.com", "--reason", "complaint").stdout

    checked = cli.json("suppression", "check", "ANN@example.com", exit_code=1)
    assert (checked["suppressed"], checked["email_hash"]) == (True, one["email_hash"])
    assert "manual" in cli("suppression", "check", "ann@example.com").stdout
    free = cli("suppression", "check", "d@example.com")
    assert (free.exit_code, free.stdout) == (0, "d@example.com is not suppressed\n")
    listed = cli.json("suppression", "list", "--having", "B@", "--reason", "manual")
    assert [each["email"] for each in listed["data"]] == ["b@example.com"]
    assert "c@example.com" in cli("suppression", "list", "--limit", "1").stdout
    page = cli.json("suppression", "list", "--limit", "2")
    rest = cli.json("suppression", "list", "--limit", "1", "--before", page["next_cursor"])
    assert [each["email"] for each in page["data"] + rest["data"]] == [
        "c@example.com", "b@example.com", "ann@example.com",
    ]  # fmt: skip
    assert rest["next_cursor"] is None

    assert cli.json("suppression", "remove", "ann@example.com")["removed"] == 1
    gone = cli("suppression", "remove", "ann@example.com")
    assert (gone.exit_code, gone.stderr) == (1, "error: no suppression of ann@example.com\n")
    refused = cli("suppression", "remove", "c@example.com")
    assert refused.exit_code == 1
    assert "why: is needed" in refused.stderr
    told = cli("suppression", "remove", "c@example.com", "--why", "called")
    assert told.stdout == "c@example.com is no longer suppressed\n"


def test_a_list_goes_out_of_one_project_and_into_another(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    assert cli("project", "add", "shop").exit_code == 0
    lines = "email,reason\na@example.com,complaint\nnobody,\nb@example.com,\n"

    tried = cli("suppression", "import", "-", "--dry-run", stdin=lines)
    assert tried.exit_code == 1
    assert tried.stdout == "2 would be added, 0 renewed, 0 there already, 1 bad line\n"
    assert tried.stderr.startswith("line 3: email: 'nobody' has no @")
    assert cli.json("suppression", "list") == {"data": [], "next_cursor": None}
    done = cli.json(
        "suppression", "import", "-", "--reason", "hard_bounce", stdin=lines, exit_code=1
    )
    assert (done["added"], done["bad"], done["errors"][0]["line"]) == (2, 1, 3)

    csv = cli("suppression", "export").stdout
    document = json.loads(cli("suppression", "export", "--format", "json").stdout)
    assert {each["email"]: each["reason"] for each in document} == {
        "a@example.com": "complaint",
        "b@example.com": "hard_bounce",
    }
    there = cli("suppression", "import", "-", "--project", "shop", stdin=csv)
    assert there.stdout == "2 added, 0 renewed, 0 there already, 0 bad lines\n"
    again = cli("suppression", "import", "-", "--project", "shop", stdin=json.dumps(document))
    assert again.stdout == "0 added, 0 renewed, 2 there already, 0 bad lines\n"


def test_what_is_faulty_is_refused_in_words(on_fresh_db: Cli) -> None:
    for words, why in (
        (("add", "nobody"), "email: 'nobody' has no @"),
        (("add", "a@example.com", "--for", "long"), "for: must be a duration"),
        (("add", "a@example.com", "--category", "A B"), "category: must be"),
        (("list", "--project", "none"), "no project none"),
        (("export", "--project", "none"), "no project none"),
        (("list", "--limit", "0"), "limit: must be 1 to 1000"),
        (("list", "--before", "x"), "before: is not a cursor of this list"),
    ):
        refused = on_fresh_db("suppression", *words)
        assert (refused.exit_code, why in refused.stderr) == (1, True), refused.stderr
    no_list = on_fresh_db("suppression", "import", "-", stdin="name\nann\n")
    assert no_list.stderr == "error: file: the header has no column email; it has name\n"

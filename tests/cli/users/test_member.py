"""`mailqueue member add`, `list` and `remove`: who sees a project in the console."""

from tests import make
from tests.cli.support.invoked import Cli


def test_a_member_is_added_listed_and_removed(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(lambda conn: make.project(conn, "shop"))
    told = on_fresh_db("member", "add", "ben", "--project", "shop")
    made = on_fresh_db.json("member", "add", "ann", "--role", "support", "--project", "shop")
    assert "ben sets a password here, once, within 24 hours" in told.stdout
    assert made["link"].startswith("http://127.0.0.1:8025/console/welcome?link=mq_link_")

    listed = on_fresh_db.json("member", "list", "--project", "shop")
    assert [(each["name"], each["role"]) for each in listed["data"]] == [
        ("ann", "support"),
        ("ben", "viewer"),
    ]
    assert "not set" in on_fresh_db("member", "list", "--project", "shop").stdout
    assert on_fresh_db.json("member", "list")["data"] == []
    gone = on_fresh_db("member", "remove", "BEN", "--project", "shop", "--yes")
    assert gone.stdout == "BEN no longer sees project shop\n"
    again = on_fresh_db("member", "remove", "ben", "--project", "shop", "--yes")
    assert (again.exit_code, again.stderr) == (1, "error: no member ben\n")
    assert on_fresh_db("member", "list", "--project", "nowhere").exit_code == 1


def test_a_superadmin_is_no_member(on_fresh_db: Cli) -> None:
    refused = on_fresh_db("member", "add", "ann", "--role", "superadmin")

    assert refused.exit_code == 2
    assert on_fresh_db.json("user", "list") == []

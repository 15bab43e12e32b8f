"""`mailqueue user add`, `link`, `list` and `remove`: people who log in to the console."""

from urllib.parse import parse_qs, urlsplit

from mailqueue.administration.users import sessions
from tests.cli.support.invoked import Cli


def token_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["link"][0]


def test_a_user_is_added_linked_listed_and_removed(on_fresh_db: Cli) -> None:
    made = on_fresh_db.json("user", "add", "ann")
    assert made["link"].startswith("http://127.0.0.1:8025/console/welcome?link=mq_link_")
    told = on_fresh_db("user", "add", "ben", "--role", "support", "--project", "default")
    assert "ben sets a password here, once, within 24 hours" in told.stdout
    renewed = on_fresh_db.json("user", "link", "ann")
    name = on_fresh_db.sql(lambda conn: sessions.name_of_link(conn, token_of(renewed["link"])))
    assert name == "ann"

    listed = on_fresh_db.json("user", "list")
    assert [(each["name"], each["role"], each["projects"]) for each in listed] == [
        ("ann", "superadmin", []),
        ("ben", "support", ["default"]),
    ]
    assert "not set" in on_fresh_db("user", "list").stdout
    assert (
        on_fresh_db("user", "remove", "ben", "--yes").stdout
        == "ben can no longer log in to the console\n"
    )
    again = on_fresh_db("user", "remove", "ben", "--yes")
    assert (again.exit_code, again.stderr) == (1, "error: no user ben\n")
    assert on_fresh_db("user", "link", "ben").stderr == "error: no user ben\n"


def test_a_user_without_projects_or_with_an_unknown_one_is_refused(on_fresh_db: Cli) -> None:
    none = on_fresh_db("user", "add", "ben", "--role", "viewer")
    unknown = on_fresh_db("user", "add", "ben", "--role", "viewer", "--project", "no-such")

    assert (none.exit_code, "needs at least one project" in none.stderr) == (1, True)
    assert (unknown.exit_code, "no-such" in unknown.stderr) == (1, True)
    assert on_fresh_db.json("user", "list") == []

"""`mailqueue user add`, `link`, `list`, `change` and `remove`: people who log in to the console."""

from urllib.parse import parse_qs, urlsplit

from mailqueue.admin.users import sessions
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


def test_a_user_is_changed(on_fresh_db: Cli) -> None:
    on_fresh_db("user", "add", "ann")
    told = on_fresh_db("user", "change", "ann", "--role", "viewer", "--project", "default")
    again = on_fresh_db.json("user", "change", "ann", "--all-projects")
    nothing = on_fresh_db("user", "change", "ann")
    missing = on_fresh_db("user", "change", "ben", "--role", "viewer")

    assert told.stdout == "ann is viewer of default\n"
    assert (again["role"], again["sees_all"], again["projects"]) == ("viewer", True, [])
    assert (nothing.exit_code, "give a new --role" in nothing.stderr) == (2, True)
    assert missing.stderr == "error: no user ben\n"


SECOND_FACTOR = (
    "INSERT INTO mailqueue.console_second_factors (user_id, master_key_id, sealed, session_id,"
    " turned_on_at) SELECT id, 'key', '\\x00', gen_random_uuid(), now()"
    " FROM mailqueue.console_users WHERE name = 'ann'"
)
PASSKEY = (
    "INSERT INTO mailqueue.console_passkeys (user_id, credential_id, public_key, sign_count, name)"
    " SELECT id, '\\x01', '\\x02', 0, 'laptop' FROM mailqueue.console_users WHERE name = 'ann'"
)


def test_a_second_factor_is_listed_and_reset(on_fresh_db: Cli) -> None:
    on_fresh_db("user", "add", "ann")
    on_fresh_db.sql(lambda conn: conn.execute(SECOND_FACTOR))
    on_fresh_db.sql(lambda conn: conn.execute(PASSKEY))
    (before,) = on_fresh_db.json("user", "list")
    table = on_fresh_db("user", "list").stdout
    told = on_fresh_db("user", "change", "ann", "--reset-second-factor")
    again = on_fresh_db.json(
        "user", "change", "ann", "--reset-second-factor", "--role", "viewer", "--all-projects"
    )
    missing = on_fresh_db("user", "change", "ben", "--reset-second-factor")

    assert (before["has_second_factor"], before["passkeys"]) == (True, 1)
    assert "SECOND FACTOR" in table
    assert "PASSKEYS" in table
    assert told.stdout == "ann is superadmin of every project; the second factor was reset\n"
    assert (again["has_second_factor"], again["passkeys"]) == (False, 0)
    assert again["role"] == "viewer"
    assert missing.stderr == "error: no user ben\n"


def test_a_user_without_projects_or_with_an_unknown_one_is_refused(on_fresh_db: Cli) -> None:
    none = on_fresh_db("user", "add", "ben", "--role", "viewer")
    unknown = on_fresh_db("user", "add", "ben", "--role", "viewer", "--project", "no-such")

    assert (none.exit_code, "needs at least one project" in none.stderr) == (1, True)
    assert (unknown.exit_code, "no-such" in unknown.stderr) == (1, True)
    assert on_fresh_db.json("user", "list") == []

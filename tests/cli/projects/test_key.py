"""`mailqueue key`: arguments and output."""

from mailqueue.db.fetch import Conn
from mailqueue.projects.keys.manage import find_key
from mailqueue.projects.model import Caller
from tests import make
from tests.cli.support.invoked import Cli


def caller(cli: Cli, key: str) -> Caller | None:
    async def found(conn: Conn) -> Caller | None:
        return await find_key(conn, key)

    return cli.sql(found)


def test_a_key_lives_from_creation_to_revocation(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    words = ("--scope", "email:send", "--expires", "90d", "--rate", "5")
    made = cli.json("key", "create", "web", *words)
    shown = cli.json("key", "show", "web")
    (listed,) = cli.json("key", "list")["data"]
    new = cli.json("key", "rotate", "web")
    both = [caller(cli, made["key"]), caller(cli, new["key"])]
    cli.json("key", "revoke", "web", "--reason", "it leaked", "--yes")
    gone = cli.json("key", "show", "web")
    ended = {each["status"] for each in cli.json("key", "list", "--all")["data"]}

    assert shown["id"] == listed["id"] == made["id"]
    assert (shown["scopes"], shown["rate_limit_per_sec"]) == (["email:send"], 5)
    assert made["key"] not in str([shown, listed])
    assert [each and each.scopes for each in both] == [frozenset({"email:send"})] * 2
    assert caller(cli, new["key"]) is None
    assert ended == {"rotated", "revoked"}
    assert (gone["status"], gone["revoked_reason"]) == ("revoked", "it leaked")
    assert "@" in gone["revoked_by"]
    assert gone["revoked_by"] in cli("key", "show", "web").stdout

    async def audited(conn: Conn) -> list[tuple[object, ...]]:
        return await make.rows(
            conn,
            "SELECT action, actor FROM mailqueue.audit_events"
            " WHERE action LIKE 'api_key.%' ORDER BY id",
        )

    rows = cli.sql(audited)
    assert all("@" in str(row[1]) for row in rows), "the operator, not the login"
    assert [row[0] for row in rows] == [
        "api_key.created",
        "api_key.rotated",
        "api_key.revoked",
    ]


def test_the_key_alone_is_on_standard_output(on_fresh_db: Cli) -> None:
    made = on_fresh_db("key", "create", "trial", "--test")

    assert made.stdout.startswith("mq_test_")
    assert len(made.stdout.split()) == 1
    assert "it is not shown again" in made.stderr
    assert "trial" in on_fresh_db("key", "list").stdout
    assert "mq_test_" in on_fresh_db("key", "show", "trial").stdout


def test_what_cannot_be_is_one_line(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli("key", "create", "web")

    for words, said in (
        (("create", "web"), "key web already exists in this project"),
        (("create", " "), "name: must be"),
        (("create", "x", "--expires", "soon"), "expires: must be a duration"),
        (("create", "x", "--project", "nowhere"), "no project nowhere"),
        (("rotate", "web", "--grace", "1000d"), "grace: must be"),
        (("rotate", "nobody"), "no key nobody"),
        (("revoke", "nobody", "--yes"), "no key nobody"),
        (("show", "nobody"), "no key nobody"),
    ):
        result = cli("key", *words)
        assert (result.exit_code, said in result.stderr) == (1, True), (words, result.output)
        assert len(result.stderr.splitlines()) == 1

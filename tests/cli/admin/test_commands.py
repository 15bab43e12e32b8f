"""`mailqueue admin` and `mailqueue platform`: the installation from the shell."""

from mailqueue.admin import administrators
from tests.cli.support.invoked import Cli


def test_an_administrator_is_made_listed_and_revoked(on_fresh_db: Cli) -> None:
    made = on_fresh_db.json("admin", "create", "ann", "--for", "30d")
    assert administrators.may_be_token(made["token"])
    assert on_fresh_db.sql(lambda conn: administrators.find(conn, made["token"])) == "ann"
    told = on_fresh_db("admin", "create", "ben")
    assert "Save it now: it is not shown again." in told.stdout

    listed = on_fresh_db.json("admin", "list")
    assert [each["name"] for each in listed] == ["ben", "ann"]
    assert made["token"] not in str(listed)
    assert (
        on_fresh_db("admin", "revoke", "ann", "--yes").stdout
        == "ann is no longer an administrator\n"
    )

    assert on_fresh_db.sql(lambda conn: administrators.find(conn, made["token"])) is None
    again = on_fresh_db("admin", "revoke", "ann", "--yes")
    assert (again.exit_code, again.stderr) == (1, "error: no administrator ann\n")
    assert "was one" in on_fresh_db("admin", "create", "ann").stderr
    assert on_fresh_db("admin", "create", "cem", "--for", "ever").exit_code == 1


def test_settings_and_flags_are_changed_and_audited(on_fresh_db: Cli) -> None:
    changed = on_fresh_db.json("platform", "set", "max_attachment_bytes", "10 MB")["data"]
    assert {each["name"]: each["value"] for each in changed}["max_attachment_bytes"] == "10 MB"
    off = on_fresh_db.json("platform", "flag", "accept_mail", "off")["data"]
    assert {each["name"]: each["value"] for each in off}["accept_mail"] == "off"
    (_, only) = on_fresh_db("platform", "flag", "accept_mail", "off").stdout.splitlines()
    assert only.startswith("accept_mail")
    refused = on_fresh_db("send", "--to", "ann@example.com", "--subject", "Hi", "--text", "Hi")
    assert (refused.exit_code, "the flag accept_mail is off" in refused.stderr) == (3, True)

    assert "accept_mail" in on_fresh_db("platform", "flags").stdout
    assert "10 MB" in on_fresh_db("platform", "settings").stdout
    events = on_fresh_db.json("platform", "audit", "--action", "setting.changed")
    assert [each["subject"] for each in events["data"]] == [
        "setting accept_mail",
        "setting max_attachment_bytes",
    ]
    assert all("@" in each["actor"] for each in events["data"])
    assert "must be one of" in on_fresh_db("platform", "set", "colour", "red").stderr


def test_keys_are_revoked_and_events_found_from_the_shell(on_fresh_db: Cli) -> None:
    on_fresh_db.json("key", "create", "web")
    gone = on_fresh_db.json(
        "platform", "revoke-keys", "--project", "default", "--reason", "lost", "--yes"
    )
    assert (gone["revoked"], [each["name"] for each in gone["keys"]]) == (1, ["web"])
    assert (
        "one of project, prefix, key and all"
        in on_fresh_db("platform", "revoke-keys", "--reason", "lost", "--yes").stderr
    )

    events = on_fresh_db.json("platform", "events", "--recipient", "ann@example.com")
    assert events == {"data": [], "next_cursor": None}
    assert on_fresh_db("platform", "events", "--within", "soon").exit_code == 1


def test_a_project_is_suspended_deleted_and_brought_back(on_fresh_db: Cli) -> None:
    on_fresh_db("project", "add", "shop", "--called", "The Shop", "--daily-limit", "500")
    suspended = on_fresh_db.json("project", "suspend", "shop", "--reason", "unpaid")
    assert (suspended["status"], suspended["suspended_reason"]) == ("suspended", "unpaid")
    assert on_fresh_db.json("project", "remove", "shop", "--yes")["status"] == "deleted"
    assert [each["slug"] for each in on_fresh_db.json("project", "list")["data"]] == ["default"]
    (kept,) = on_fresh_db.json("project", "list", "the shop", "--status", "deleted")["data"]
    assert kept["daily_send_limit"] == 500
    assert on_fresh_db.json("project", "activate", "shop")["status"] == "active"

    stats = on_fresh_db.json("project", "stats", "shop", "--days", "3")
    assert (stats["today"]["left"], len(stats["days"])) == (500, 3)
    assert "delivery rate" in on_fresh_db("project", "stats", "shop").stdout
    audit = on_fresh_db.json("project", "audit", "shop")
    assert [each["action"] for each in audit["data"]] == [
        "project.restored",
        "project.deleted",
        "project.suspended",
        "project.added",
    ]
    assert "project.restored" in on_fresh_db("project", "audit", "shop", "--limit", "1").stdout
    for options in (
        ("--action", "deleted"),
        ("--before", str(audit["data"][0]["id"]), "--limit", "1"),
    ):
        (only,) = on_fresh_db.json("project", "audit", "shop", *options)["data"]
        assert only == audit["data"][1], options
    for options in (("--actor", "nobody"), ("--subject", "blog"), ("--within", "0s")):
        assert on_fresh_db.json("project", "audit", "shop", *options)["data"] == [], options
    recent = on_fresh_db.json("platform", "audit", "--subject", "SHOP", "--within", "1h")
    assert recent["data"] == audit["data"]
    assert on_fresh_db("platform", "audit", "--within", "soon").exit_code == 1
    assert on_fresh_db("project", "set", "shop", "--weight", "much").exit_code == 1


def test_an_action_that_no_event_has_is_refused_with_actions_like_it(on_fresh_db: Cli) -> None:
    on_fresh_db("key", "add", "web")
    on_fresh_db("key", "revoke", "web", "--yes")

    for words in (("platform", "audit"), ("project", "audit", "default")):
        verb = on_fresh_db(*words, "--action", "revoked")

        for action in ("key.revokd", "key.revoked", "revoke"):
            refused = on_fresh_db(*words, "--action", action)
            assert refused.exit_code == 1, refused.output
            assert f"the action {action}; did you mean api_key.revoked" in refused.stderr
        assert "api_key.revoked" in verb.stdout, verb.output
    other = on_fresh_db("platform", "audit", "--action", "revoked", "--actor", "somebody else")
    assert other.exit_code == 0, other.output

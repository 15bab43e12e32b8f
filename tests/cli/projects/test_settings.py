"""`mailqueue project add|list|show|set`: projects from the shell."""

import json

from tests.cli.support.invoked import Cli


def test_a_project_is_made_changed_and_shown(on_fresh_db: Cli) -> None:
    made = on_fresh_db("project", "add", "shop", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["slug"] == "shop"

    words = (
        "--from",
        "shop@example.com",
        "--from-name",
        "Shop",
        "--bounce-address",
        "b@example.com",
    )
    allow = ("--allow-from", "example.com", "--allow-from", "*.example.com")
    changed = on_fresh_db("project", "set", "shop", *words, *allow, "--attachment-bytes", "1000")
    assert changed.exit_code == 0, changed.output
    assert "example.com, *.example.com" in changed.stdout

    shown = json.loads(on_fresh_db("project", "show", "shop", "--json").stdout)
    assert (shown["from_email"], shown["bounce_address"]) == ("shop@example.com", "b@example.com")
    assert (shown["allowed_from"], shown["max_attachment_bytes"]) == (
        ["example.com", "*.example.com"],
        1000,
    )
    back = on_fresh_db("project", "set", "shop", "--allow-from", "none", "--from", "none", "--json")
    assert (json.loads(back.stdout)["allowed_from"], json.loads(back.stdout)["from_email"]) == (
        None,
        None,
    )
    listed = json.loads(on_fresh_db("project", "list", "--json").stdout)
    assert [each["slug"] for each in listed["data"]] == ["default", "shop"]


def test_bounds_are_set_and_their_use_is_shown(on_fresh_db: Cli) -> None:
    on_fresh_db("project", "add", "shop", "--max-queued-emails", "5", "--max-events", "0")

    used = json.loads(on_fresh_db("project", "usage", "shop", "--json").stdout)
    assert {each["bound"]: (each["used"], each["max"]) for each in used} == {
        "max_queued_emails": (0, 5),
        "max_stored_bytes": (0, None),
        "max_uploads": (0, None),
        "max_templates": (0, None),
        "max_contacts": (0, None),
        "max_events": (0, 0),
    }
    assert "max_queued_emails" in on_fresh_db("project", "usage").stdout
    back = on_fresh_db("project", "set", "shop", "--max-queued-emails", "none", "--json")
    assert json.loads(back.stdout)["max_queued_emails"] is None
    aged = on_fresh_db("project", "set", "shop", "--max-age-critical", "1", "--json")
    assert json.loads(aged.stdout)["max_age_hours_critical"] == 1


def test_a_window_of_low_priority_is_set_and_reset(on_fresh_db: Cli) -> None:
    window = ("project", "change", "default", "--low-priority-window")
    night = on_fresh_db(*window, "22:00-06:00 Europe/Berlin", "--json")
    assert json.loads(night.stdout)["low_priority_window"] == "22:00-06:00 Europe/Berlin"
    assert "22:00-06:00 Europe/Berlin" in on_fresh_db("project", "show", "default").stdout
    wrong = on_fresh_db(*window, "22:00-06:00 Mars/Base")
    assert (wrong.exit_code, wrong.stderr) == (
        1,
        'error: low_priority_window: there is no time zone "Mars/Base"\n',
    )
    back = on_fresh_db(*window, "none", "--json")
    assert json.loads(back.stdout)["low_priority_window"] is None


def test_how_a_second_insert_of_an_id_ends_is_set_and_reset(on_fresh_db: Cli) -> None:
    option = ("project", "change", "default", "--outbox-duplicates")
    assert json.loads(on_fresh_db(*option, "skip", "--json").stdout)["outbox_duplicates"] == "skip"
    assert "skip" in on_fresh_db("project", "show", "default").stdout
    wrong = on_fresh_db(*option, "ignore")
    assert (wrong.exit_code, wrong.stderr) == (
        1,
        'error: outbox_duplicates: error or skip, got "ignore"\n',
    )
    back = on_fresh_db(*option, "none", "--json")
    assert json.loads(back.stdout)["outbox_duplicates"] == "error"


def test_order_is_set_and_reset(on_fresh_db: Cli) -> None:
    change = ("project", "change", "default", "--json", "--ordering")
    set_ = json.loads(on_fresh_db(*change, "outboxes", "--ordering-on-failure", "block").stdout)
    assert (set_["ordering"], set_["ordering_on_failure"]) == ("outboxes", "block")
    wrong = on_fresh_db(*change, "customer")
    assert (wrong.exit_code, wrong.stderr) == (
        1,
        'error: ordering: project, outboxes or custom_data.NAME, got "customer"\n',
    )
    assert json.loads(on_fresh_db(*change, "none").stdout)["ordering"] is None


def test_what_cannot_be_is_named(on_fresh_db: Cli) -> None:
    taken = on_fresh_db("project", "add", "default")
    assert (taken.exit_code, taken.stderr) == (
        1,
        "error: there is a project default already\n",
    )
    assert "is not a name: lower-case letters" in on_fresh_db("project", "add", "My Shop").stderr
    assert on_fresh_db("project", "show", "away").stderr == "error: no project away\n"
    bad = on_fresh_db("project", "set", "default", "--from", "nobody")
    assert bad.stderr == 'error: from_email: "nobody" is not an address we can send to (no at)\n'
    assert on_fresh_db("project", "set", "default").exit_code == 2


def test_mail_of_unknown_fate_may_cross_by_a_setting_that_is_off(on_fresh_db: Cli) -> None:
    shown = on_fresh_db("project", "show", "default", "--json")
    assert json.loads(shown.stdout)["resend_elsewhere"] is False
    for given in ("on", "off"):
        done = on_fresh_db("project", "set", "default", "--resend-elsewhere", given, "--json")
        assert json.loads(done.stdout)["resend_elsewhere"] is (given == "on")

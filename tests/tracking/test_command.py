"""`mailqueue tracking`: the keys and the domain of links."""

from pathlib import Path

import pytest

from tests import make
from tests.api.support.wired import MASTER
from tests.cli.support.invoked import Cli

URL = "https://mail.example.com"


@pytest.fixture(scope="module")
def cli(module_db: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    folder: Path = tmp_path_factory.mktemp("data")
    made = Cli(module_db, folder)
    made.environment |= {"MAILQUEUE_MASTER_KEY": MASTER, "MAILQUEUE_PUBLIC_URL": URL}
    made.json("project", "add", "shop", "--track-opens", "on")
    return made


def test_a_project_says_what_is_tracked_and_by_which_domain(cli: Cli) -> None:
    words = ("project", "set", "shop", "--track-clicks", "on", "--tracking-domain")

    found = cli.json(*words, "Links.Example.com")

    assert (found["track_opens"], found["track_clicks"]) == (True, True)
    assert (found["tracking_domain"], found["tracking_domain_verified_at"]) == (
        "links.example.com",
        None,
    )
    assert cli.json("project", "set", "shop", "--track-opens", "off")["track_opens"] is False


def test_keys_are_replaced_and_shown_without_what_they_are(cli: Cli) -> None:
    first = cli.json("tracking", "rotate", "shop")
    second = cli.json("tracking", "rotate", "shop")

    assert first["links_begin_with"] == URL
    assert [key["retired_at"] is None for key in second["keys"]] == [True, False]
    assert cli.json("tracking", "show", "shop") == second
    assert set(second["keys"][0]) == {"id", "created_at", "retired_at", "revoked_at"}
    assert "KEY" in cli("tracking", "show", "shop").output


def test_a_key_is_revoked_when_that_is_confirmed(cli: Cli) -> None:
    old = cli.json("tracking", "rotate", "shop")["keys"][0]["id"]
    cli.json("tracking", "rotate", "shop")

    asked = cli("tracking", "revoke", "shop", old, answer="n\n")
    assert (asked.exit_code, "stop working" in asked.output) == (1, True)
    found = cli.json("tracking", "revoke", "shop", old, "--yes")["keys"]

    assert [key["id"] for key in found if key["revoked_at"] is not None] == [old]
    assert cli("tracking", "revoke", "shop", "ffff", "--yes").exit_code == 1


def test_a_domain_is_not_looked_up_without_a_configured_public_url(cli: Cli) -> None:
    cli.json("project", "set", "shop", "--tracking-domain", "links.example.com")

    refused = cli("tracking", "verify", "shop", env={"MAILQUEUE_PUBLIC_URL": None})

    assert refused.exit_code == 1
    assert "MAILQUEUE_PUBLIC_URL is not set" in refused.output
    assert cli.json("tracking", "show", "shop")["verified_at"] is None


def test_mail_of_the_shell_says_whether_it_is_tracked(cli: Cli) -> None:
    made = cli.json(
        *("send", "--to", "ann@example.com", "--project", "shop", "--subject", "Hi", "--text", "x"),
        *("--no-track-opens", "--track-clicks", "--unsubscribe"),
    )

    shown = "SELECT tracking_options FROM mailqueue.email_contents AS c"
    shown += " JOIN mailqueue.email_queue AS q ON q.content_id = c.id WHERE q.id = %s"
    found = cli.sql(lambda conn: make.scalar(conn, shown, made["id"]))
    assert found == 2 + 4

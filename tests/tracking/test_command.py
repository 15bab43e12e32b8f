"""`mailqueue tracking`: the keys and the domain of links, on the command line."""

from pathlib import Path

import pytest

from tests import make
from tests.api.wired import MASTER
from tests.cli.invoked import Cli

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
    assert (found["tracking_domain"], found["tracking_checked_at"]) == ("links.example.com", None)
    assert cli.json("project", "set", "shop", "--track-opens", "off")["track_opens"] is False


def test_keys_are_replaced_and_shown_without_what_they_are(cli: Cli) -> None:
    first = cli.json("tracking", "rotate", "shop")
    second = cli.json("tracking", "rotate", "shop")

    assert first["links_begin_with"] == URL
    assert [key["retired_at"] is None for key in second["keys"]] == [True, False]
    assert cli.json("tracking", "show", "shop") == second
    assert set(second["keys"][0]) == {"id", "created_at", "retired_at"}
    assert "KEY" in cli("tracking", "show", "shop").output


def test_a_domain_nobody_can_look_up_is_not_verified(cli: Cli) -> None:
    cli.json("project", "set", "shop", "--tracking-domain", "links.example.com")

    check = cli.json("tracking", "verify", "shop", "--resolver", "127.0.0.1:1", exit_code=1)

    assert check["leads_here"] is None
    assert check["verified_at"] is None
    assert check["publish"] == "links.example.com. IN CNAME mail.example.com."


def test_mail_of_the_shell_says_whether_it_is_tracked(cli: Cli) -> None:
    made = cli.json(
        *("send", "--to", "ann@example.com", "--project", "shop", "--subject", "Hi", "--text", "x"),
        *("--no-track-opens", "--track-clicks", "--unsubscribe"),
    )

    shown = "SELECT dressing FROM mailqueue.email_contents AS c"
    shown += " JOIN mailqueue.email_queue AS q ON q.content_id = c.id WHERE q.id = %s"
    found = cli.sql(lambda conn: make.scalar(conn, shown, made["id"]))
    assert found == 2 + 4

"""`mailqueue email hold --subject … --background`, and `mailqueue operation`."""

from uuid import uuid4

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.operations.handler import OperationHandler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.cli.support.invoked import Cli
from tests.queue.working import work_once

FILTER = ("--project", "default", "--subject", "SPRING_%")


async def mail(conn: Conn) -> None:
    for subject in ("Spring_% sale", "Spring sale"):
        await make.queued_email(conn, subject=subject)


def held(cli: Cli) -> list[str]:
    query = "SELECT subject FROM mailqueue.emails WHERE status = 'held'"
    found = cli.sql(lambda conn: make.rows(conn, query))
    return [row[0] for row in found]


def worked(cli: Cli) -> None:
    database = DatabaseSettings(Secret(cli.database))
    cli.sql(lambda _: work_once(database, "operations", OperationHandler(database)))


def test_mail_is_held_by_subject_at_once(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(mail)

    tried = on_fresh_db("email", "hold", *FILTER, "--dry-run")
    done = on_fresh_db("email", "hold", *FILTER, "--yes")

    assert (tried.stdout, done.stdout) == ("1 would be held\n", "1 held\n")
    assert held(on_fresh_db) == ["Spring_% sale"]


def test_workers_hold_it_in_the_background_and_the_operation_is_listed(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(mail)

    refused = on_fresh_db("email", "hold", *FILTER, "--background", answer="n\n")
    begun = on_fresh_db.json("email", "hold", *FILTER, "--background", "--yes", "--reason", "price")
    assert refused.exit_code == 1
    assert "1 emails will be held" in refused.output
    assert (begun["state"], begun["filter"]) == ("waiting", {"subject": "SPRING_%"})
    assert held(on_fresh_db) == []
    assert "subject=SPRING_%" in on_fresh_db("operation", "list").stdout

    worked(on_fresh_db)
    [one] = on_fresh_db.json("operation", "list", "--project", "default")
    shown = on_fresh_db.json("operation", "show", begun["id"])
    assert one == shown
    assert (one["state"], one["emails"], one["reason"]) == ("done", 1, "price")
    assert held(on_fresh_db) == ["Spring_% sale"]
    assert "done" in on_fresh_db("operation", "show", begun["id"]).stdout
    over = on_fresh_db("operation", "stop", begun["id"])
    assert (over.exit_code, "is over: done" in over.stderr) == (1, True)


def test_an_operation_is_stopped_by_its_id(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(mail)
    begun = on_fresh_db.json("email", "cancel", *FILTER, "--background", "--yes")

    stopped = on_fresh_db("operation", "stop", begun["id"])
    worked(on_fresh_db)

    assert stopped.stdout == "stopping; 0 emails changed\n"
    assert on_fresh_db.json("operation", "show", begun["id"])["state"] == "stopped"
    assert "no operation" in on_fresh_db("operation", "show", str(uuid4())).stderr


def test_ids_and_unknown_projects_are_refused(on_fresh_db: Cli) -> None:
    ids = on_fresh_db("email", "hold", str(uuid4()), "--background")
    nowhere = on_fresh_db("operation", "list", "--project", "nowhere")

    assert (ids.exit_code, "takes a filter, not ids" in ids.stderr) == (2, True)
    assert nowhere.exit_code == 1
    assert on_fresh_db("operation", "list").stdout == "no operations\n"

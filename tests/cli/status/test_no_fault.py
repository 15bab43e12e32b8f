"""`mailqueue doctor` tells what is meant to be so, and does not call it a fault."""

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.status.test_doctor import findings, held, well
from tests.cli.support.invoked import Cli


def test_mail_that_a_person_held_is_told_and_no_fault(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(well)
    on_fresh_db.sql(lambda conn: held(conn, "wrong prices"))

    assert findings(on_fresh_db) == {}
    assert "1 mail held by a person; the oldest accepted at " in on_fresh_db("doctor").stdout


def test_an_installation_that_only_traps_is_told_so(on_fresh_db: Cli) -> None:
    async def trapped(conn: Conn) -> None:
        await make.sender_account(conn, name="trap", provider="trap")
        await make.worker(conn)

    only = "only the mail trap: no mail leaves this installation"
    on_fresh_db.sql(trapped)

    assert findings(on_fresh_db) == {}
    assert only in on_fresh_db("doctor").stdout.splitlines()[-1]
    on_fresh_db.sql(lambda conn: make.sender_account(conn, name="relay"))
    assert only not in on_fresh_db("doctor").stdout

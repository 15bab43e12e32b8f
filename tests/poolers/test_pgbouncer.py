"""A mail is accepted, sent and booked through PgBouncer in transaction mode."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests import make
from tests.api.support.calling import HELLO, calling
from tests.cli.support.invoked import Cli
from tests.concurrency.running import (
    account_at,
    deliveries,
    enqueue,
    pids,
    session,
    until_nothing_is_queued,
    workers,
)
from tests.conftest import Server
from tests.mail.claim.steps import difference
from tests.poolers.pgbouncer import bouncing
from tests.smtp.client.scripted import scripted

pytestmark = [pytest.mark.anyio, pytest.mark.pgbouncer]
MAILS = 120


@pytest.fixture(scope="module")
def port(bare_server: Server, reachable_folder: Path, service_user: Account) -> Iterator[int]:
    """The port of a pooler before the server of the tests."""
    folder = reachable_folder / "pgbouncer"
    with bouncing(bare_server.superuser, folder, service_user) as port:
        yield port


def by(port: int, url: str) -> str:
    """Return a connection string with another port."""
    login, _, rest = url.rpartition("@")
    return f"{login}@127.0.0.1:{port}/{rest.partition('/')[2]}"


async def test_mail_goes_its_whole_way(
    fresh_db: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers poll: no NOTIFY reaches them."""
    monkeypatch.setitem(os.environ, "MAILQUEUE_POOLER", "transaction")
    database = DatabaseSettings(Secret(by(port, fresh_db)), pooler=Pooler.TRANSACTION)
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server, name="main", priority=0)
        async with workers(database, processes=2) as command, calling(database) as api:
            await pids(conn, 2)
            await enqueue(conn, MAILS)
            await make.queued_emails(conn, MAILS)
            mail = {**HELLO, "sender": "main"}
            answers = [await api.send(mail, Idempotency_Key=str(n % 6)) for n in range(12)]
            assert await until_nothing_is_queued(conn) == {"sent": 2 * MAILS + 6}
            assert await command.stopped() == 0

        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["id"] for answer in answers}) == 6
        copies = deliveries(server)
        assert copies.total() == len(copies)
        assert await difference(conn) == 0


def test_the_schema_changes_by_the_direct_way_only(
    empty_db: str, port: int, tmp_path: Path
) -> None:
    mailqueue = Cli(by(port, empty_db), tmp_path)
    pooled = {"MAILQUEUE_POOLER": "transaction"}

    refused = mailqueue("migrate", env=pooled)
    done = mailqueue("migrate", env={**pooled, "MAILQUEUE_DIRECT_URL": empty_db})
    again = mailqueue("migrate", env=pooled)
    verified = mailqueue("verify", env=pooled)

    assert refused.exit_code == 4
    assert "set MAILQUEUE_DIRECT_URL to a direct connection" in refused.output
    assert done.exit_code == 0, done.output
    assert again.exit_code == 0, again.output
    assert verified.exit_code == 0, verified.output

"""The standby that answers reports is checked."""

from dataclasses import replace

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.embedded.ports import free_port
from mailqueue.operations.doctor import replica as checks
from mailqueue.operations.doctor.context import CheckContext
from mailqueue.operations.doctor.replica import replica
from mailqueue.operations.model import CheckState, Finding
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import attachment_storage
from tests import make
from tests.api.support.calling import settings_for
from tests.conftest import Server
from tests.rules.logins import login

pytestmark = pytest.mark.anyio


async def checked(database: DatabaseSettings) -> Finding:
    """Return what the check finds."""
    settings = settings_for(database)
    async with connect(database) as conn:
        storage = attachment_storage(settings.attachments)
        return await replica(CheckContext(settings, conn, lambda: None, storage))


async def test_without_a_standby_there_is_nothing_to_check(database: DatabaseSettings) -> None:
    found = await checked(database)

    assert (found.state, found.fix) == (CheckState.OK, None)
    assert "MAILQUEUE_REPLICA_URL" in found.says


async def test_a_server_with_the_same_data_is_well(database: DatabaseSettings) -> None:
    assert (await checked(replace(database, replica=database.url))).is_ok


async def test_the_data_are_the_same_where_the_login_there_has_the_role_of_the_api_only(
    server: Server, database: DatabaseSettings, fresh_db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    superuser = server.superuser_url(fresh_db.rpartition("/")[2])
    monkeypatch.setattr(checks, "connect", lambda *_, **__: login(superuser, "mailqueue_api"))

    assert (await checked(replace(database, replica=database.url))).is_ok


async def test_one_that_does_not_answer_is_a_warning_that_names_it_without_its_password(
    database: DatabaseSettings,
) -> None:
    port = free_port()
    url = Secret(f"postgresql://reader:hidden@127.0.0.1:{port}/mailqueue")

    found = await checked(replace(database, replica=url))

    assert found.state is CheckState.WARNING
    assert f"127.0.0.1:{port}" in found.says
    assert "hidden" not in f"{found.says} {found.fix}"
    assert "MAILQUEUE_REPLICA_URL" in str(found.fix)


async def test_one_that_has_yet_to_replay_a_migration_asks_for_none(
    database: DatabaseSettings, empty_db: str
) -> None:
    found = await checked(replace(database, replica=Secret(empty_db)))

    assert found.state is CheckState.WARNING
    assert "lacks what reports read" in found.says
    assert "mailqueue migrate" not in f"{found.says} {found.fix}"


async def test_one_with_the_data_of_another_installation_is_an_alarm(
    database: DatabaseSettings, module_db: str
) -> None:
    async with connect(database) as conn:
        await make.project(conn, "older")
        await conn.execute(
            "UPDATE mailqueue.projects SET created_at = '2020-01-01' WHERE name = 'older'"
        )

    found = await checked(replace(database, replica=Secret(module_db)))

    assert found.state is CheckState.ALARM
    assert "another installation" in found.says

"""A server that is started and stopped by PostgreSQL's own programs."""

import asyncio
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.migrate import migrate
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import find_binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.ports import HOST, free_port
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings
from tests.backup.guide import Guide
from tests.whole.running import Home

ROLE, NAME = "mailqueue_backup", "mailqueue"


@pytest.fixture
def guide(
    request: pytest.FixtureRequest, reachable_folder: Path, service_user: Account
) -> Iterator[Guide]:
    """The guide, on a running server with a migrated database."""
    found = find_binaries(request.config.getoption("--server-version"))
    folder = reachable_folder.resolve() / f"backup-{secrets.token_hex(4)}"
    folder.mkdir()
    service_user.own(folder)
    if not service_user.can_enter(found.bin / "postgres"):
        found = found.copied(folder / "postgresql")
    port = free_port()
    settings = {"port": str(port), "shared_buffers": "32MB", "fsync": "off"}
    cluster = Cluster(folder, found, service_user, settings)
    cluster.make()
    url = f"postgresql://{ROLE}:{ROLE}@{HOST}:{port}/{NAME}"
    database = DatabaseSettings(Secret(url))
    home = Home(folder / "data", {"MAILQUEUE_DATABASE_URL": url})
    made = Guide(cluster, folder, port, home)
    _, process = cluster.start(port)
    try:
        made.run("archive_mode = on")
        assert process is not None
        process.wait()  # the restarted one is no child of ours
        superuser = DatabaseSettings(Secret(cluster.superuser_url(port)))
        asyncio.run(provision(superuser, role=ROLE, password=ROLE, database=NAME))
        asyncio.run(migrate(database))
        yield made
    finally:
        cluster.stop()
        shutil.rmtree(folder)


@pytest.fixture
def restorable(guide: Guide) -> DatabaseSettings:
    """The database of the guide."""
    return DatabaseSettings(Secret(guide.home.variables["MAILQUEUE_DATABASE_URL"]))

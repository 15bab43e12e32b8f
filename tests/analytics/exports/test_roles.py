"""Workers need only the rights of their role to collect what is stored about a person."""

from urllib.parse import urlsplit

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.privacy.exporting import export_person
from mailqueue.privacy.model import ProjectName
from mailqueue.privacy.persons import lending, spellings_of
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.conftest import Server
from tests.rules.logins import login

pytestmark = pytest.mark.anyio

ANN = "ann@example.com"


async def test_a_worker_collects_with_its_own_rights_what_the_owner_does(
    server: Server, fresh_db: str
) -> None:
    superuser_url = server.superuser_url(urlsplit(fresh_db).path.lstrip("/"))
    async with connect(DatabaseSettings(Secret(fresh_db))) as owner:
        project = await make.project_named(owner)
        await make.queued_email(owner, recipient_email=ANN)
        await make.rows(
            owner,
            "SELECT mailqueue.suppress(%s, %s, 'marketing', 'manual', NULL, NULL, 'manual')",
            project,
            ANN,
        )
        name = ProjectName(project, "default")
        expected = await export_person(lending(owner), name, spellings_of(ANN))
        async with login(superuser_url, "mailqueue_worker") as conn:
            found = await export_person(lending(conn), name, spellings_of(ANN))

    assert found == expected
    assert (len(found["mails"]), "suppressions" in found["records"]) == (1, True)

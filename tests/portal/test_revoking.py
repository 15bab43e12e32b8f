"""A consent at Google is revoked once the removal of its inbox has committed, and audited."""

from dataclasses import replace
from typing import Any

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import gmail
from mailqueue.wiring.api import build_services
from tests import make
from tests.portal import visiting
from tests.watch import watching

pytestmark = pytest.mark.anyio
INBOXES = "SELECT count(*) FROM mailqueue.mailboxes"
AUDIT = "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'inbox.%' ORDER BY id DESC"


async def test_a_consent_is_revoked_after_the_removal_has_committed(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    class Consents:
        async def revoke(self, _: Secret) -> str | None:
            async with connect(database) as other:
                left.append(await make.scalar(other, INBOXES))
            return None

    async def tokens_of(*_: Any, **__: Any) -> list[Secret]:
        return [Secret("refresh")]

    def services(*given: Any) -> Any:
        return replace(build_services(*given), inbox_consents=Consents())  # type: ignore[arg-type]

    monkeypatch.setattr(visiting, "build_services", services)
    monkeypatch.setattr(gmail, "tokens_of", tokens_of)
    async with visiting.visiting(database) as portal, portal.visitor() as visitor:
        ann = await portal.person()
        async with portal.connection() as conn:
            inbox_id = await watching.inbox(conn, ann, 1)
        await visitor.log_in()
        path = f"/inboxes/{inbox_id}/remove"
        response = await visitor.submit(path, path)
        async with portal.connection() as conn:
            audited = await make.rows(conn, AUDIT)

    assert response.headers["location"] == f"{visiting.HOME}?done=removed"
    assert left == [0]
    assert audited[0] == ("inbox.consent_revoked",)

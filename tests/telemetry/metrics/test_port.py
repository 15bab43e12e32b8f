"""The metrics port says that a process is alive, whatever its database does."""

import httpx2
import pytest

from mailqueue.api.metrics.app import DatabaseFigures, metrics_app
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings

pytestmark = pytest.mark.anyio


async def test_liveness_needs_no_database() -> None:
    away = DatabaseFigures(DatabaseSettings(Secret("postgresql://a@127.0.0.1:1/a")))
    transport = httpx2.ASGITransport(app=metrics_app(away))
    async with httpx2.AsyncClient(transport=transport, base_url="http://metrics") as port:
        found = {
            path: (await port.get(path)).status_code for path in ("/livez", "/metrics/database")
        }
    await away.close()

    assert found == {"/livez": 200, "/metrics/database": 503}

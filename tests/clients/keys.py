"""Keys with some permissions, for tests of clients."""

import secrets

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from tests.clients.serving import Served


def key_with(site: Served, *scopes: Scope) -> str:
    """Return a new key of project `default` that has these permissions only."""

    async def issued() -> str:
        async with connect(site.database) as conn:
            name = f"key-{secrets.token_hex(4)}"
            made = await issue_key(conn, "default", name, is_test=False, scopes=list(scopes))
            return made.key.reveal()

    return site.run(issued())

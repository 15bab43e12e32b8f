"""Ask for what is stored about a person, and have a worker collect it."""

from functools import partial
from uuid import uuid4

from mailqueue.analytics.exports.handler import ExportHandler
from mailqueue.privacy.collecting import collect
from mailqueue.tracking.tokens import TokenKind
from tests import make
from tests.api.support.recipient_links import Leaving
from tests.queue.working import work_once

ASKED = {"action": "data"}
DOWNLOAD = {"action": "download"}


def someone() -> str:
    return f"{uuid4().hex[:12]}@example.com"


async def worked(shop: Leaving) -> int:
    handler = ExportHandler(shop.database, partial(collect, shop.database), page_rows=2)
    return await work_once(shop.database, "exports", handler)


async def sent_link(shop: Leaving, who: str) -> str:
    """Return the link in the only mail with a link to the data of a person."""
    query = (
        "SELECT q.id FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c"
        " ON c.id = q.content_id AND c.created_on = q.content_on"
        " WHERE q.recipient_email = %s AND c.html_body LIKE '%%{{ data_url }}%%'"
        " AND c.text_body LIKE '%%{{ data_url }}%%'"
    )
    ((mail,),) = await make.rows(shop.conn, query, who)
    return await shop.link(mail, TokenKind.DATA)


async def asked(shop: Leaving, who: str) -> str:
    """Ask for the data of a person; return the link that is sent."""
    page = await shop.http.post(await shop.preferences_of(who), data=ASKED)
    assert "The link is on its way" in page.text
    return await sent_link(shop, who)

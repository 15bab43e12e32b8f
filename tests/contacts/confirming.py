"""Links of mails that ask contacts to confirm."""

from mailqueue.tracking.tokens import TokenKind
from tests import make
from tests.api.support.recipient_links import Leaving
from tests.contacts import people


async def asked_link(shop: Leaving, address: str, *, name: str = "news") -> str:
    """Add a contact to a list that asks it to confirm; return the link of the mail."""
    ids = await people.added(shop.conn, shop.project_id, address)
    add = "SELECT mailqueue.add_list_members(%s, %s, %s)"
    await shop.conn.execute(add, (shop.project_id, name, ids))
    query = "SELECT email_id FROM mailqueue.list_confirmations WHERE contact_id = %s"
    return await shop.link(await make.scalar(shop.conn, query, ids[0]), TokenKind.CONFIRM)

"""Lists of mailboxes: parsed alike by Python and by SQL."""

import pytest

from mailqueue.core.address import InvalidAddress
from mailqueue.core.mailboxes import parse_mailboxes
from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

RIGHT = {
    "ann@example.com": ["ann@example.com"],
    "ann@example.com, Bo <bo@example.com>": ["ann@example.com", "Bo bo@example.com"],
    '"Lee, Bo" <bo@example.com>,ann@example.com': ["Lee, Bo bo@example.com", "ann@example.com"],
    r'"a\", b" <bo@example.com>, x@example.com': ['a", b bo@example.com', "x@example.com"],
}
WRONG = [
    "ann@example.com,",
    ",ann@example.com",
    "ann@example.com,,bo@example.com",
    "Lee, Bo <bo@example.com>",
    "ann@example.com, bo",
    '"ann@example.com, bo@example.com',
    "<ann@example.com, bo@example.com>",
    "ann@example.com, <bo@example.com",
]


@pytest.mark.parametrize("text", RIGHT)
def test_lists_are_read(text: str) -> None:
    found = [f"{name} {address.sent}".strip() for name, address in parse_mailboxes(text)]

    assert found == RIGHT[text]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(InvalidAddress):
        parse_mailboxes(text)


async def test_sql_takes_and_refuses_the_same(conn: Conn) -> None:
    query = (
        "SELECT r.status FROM mailqueue.enqueue_batch('default', jsonb_build_array("
        "jsonb_build_object('recipient', 'x@example.com', 'subject', 's', 'text', 't',"
        " 'reply_to', %s::text))) AS r"
    )
    for text in (*RIGHT, *WRONG):
        status = await make.scalar(conn, query, text)
        assert status == ("queued" if text in RIGHT else "rejected"), text

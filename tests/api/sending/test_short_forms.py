"""POST /v1/send in its short forms: one recipient without a list, short names."""

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling

pytestmark = pytest.mark.anyio


async def test_one_recipient_may_be_a_string_and_bodies_have_shorter_names(api: Calling) -> None:
    response = await api.send(
        {
            "to": "Ann <ann@example.com>",
            "cc": "bob@example.com",
            "bcc": "carol@example.com",
            "subject": "Hello",
            "html": "<p>Hello Ann</p>",
            "text": "Hello Ann",
        }
    )

    assert response.status_code == 202, response.text
    async with connect(api.database) as conn:
        rows = await make.rows(
            conn,
            "SELECT r.kind, r.address, c.html_body, c.text_body FROM mailqueue.email_queue AS q"
            " JOIN mailqueue.email_contents AS c ON c.id = q.content_id"
            " JOIN mailqueue.email_recipients AS r ON r.email_id = q.id"
            " ORDER BY r.address",
        )
    assert [tuple(row) for row in rows] == [
        (kind, f"{name}@example.com", "<p>Hello Ann</p>", "Hello Ann")
        for kind, name in (("to", "ann"), ("cc", "bob"), ("bcc", "carol"))
    ]

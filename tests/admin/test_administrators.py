"""Administrators with a token created here: shown once, found by its hash, refused when not
valid.
"""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.admin import administrators
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects.keys import text as keys_text
from tests import make

pytestmark = pytest.mark.anyio


async def test_a_token_finds_its_administrator_and_is_nowhere_in_the_database(conn: Conn) -> None:
    made = await administrators.create(conn, "ann", by="root@host")
    token = made.token.reveal()

    assert await administrators.find(conn, token) == "ann"
    row = await make.scalar(conn, "SELECT to_json(a)::text FROM mailqueue.administrators AS a")
    assert token not in row
    assert token[13:] not in row
    (listed,) = await administrators.list_all(conn)
    assert (listed.hint, listed.created_by) == (token[:13], "root@host")
    assert listed.last_used_at is not None


async def test_revoked_expired_and_invented_tokens_are_refused(conn: Conn) -> None:
    revoked = (await administrators.create(conn, "ann", by="root")).token.reveal()
    await administrators.revoke(conn, "ann", by="root")
    soon = datetime.now(UTC) + timedelta(hours=1)
    short = (await administrators.create(conn, "ben", by="root", expires_at=soon)).token.reveal()
    assert await administrators.find(conn, short) == "ben"
    await conn.execute("UPDATE mailqueue.administrators SET expires_at = now() WHERE name = 'ben'")

    invented = keys_text.new_secret(administrators.PREFIX).reveal()
    for token in (revoked, short, invented, invented[:-1], "", "mq_admin_", "x" * 10_000):
        assert await administrators.find(conn, token) is None
    with pytest.raises(NotFound):
        await administrators.revoke(conn, "ann", by="root")


async def test_an_api_key_is_no_administrators_token(conn: Conn) -> None:
    """Not even if its hash was written into the table of administrators."""
    key = keys_text.new_key(is_test=False).reveal()
    values = {"name": "ann", "token_hash": keys_text.hash_of(key), "hint": "x", "created_by": "x"}
    await make.inserted(conn, "administrators", values)

    assert await administrators.find(conn, key) is None


async def test_names_are_not_used_again_and_are_plain(conn: Conn) -> None:
    await administrators.create(conn, "ann", by="root")
    await administrators.revoke(conn, "ann", by="root")

    past = datetime.now(UTC) - timedelta(seconds=1)
    for name, expires_at in (("ann", None), ("", None), ("a\nb", None), ("ben", past)):
        with pytest.raises(InvalidField):
            async with conn.transaction():
                await administrators.create(conn, name, by="root", expires_at=expires_at)


async def test_making_and_revoking_is_in_the_audit(conn: Conn) -> None:
    await administrators.create(conn, "ann", by="root@host")
    await administrators.revoke(conn, "ann", by="ben (token)")

    found = await make.rows(
        conn, "SELECT actor, action, subject FROM mailqueue.audit_events ORDER BY id"
    )
    assert found == [
        ("root@host", "administrator.added", "administrator ann"),
        ("ben (token)", "administrator.revoked", "administrator ann"),
    ]

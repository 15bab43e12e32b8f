"""A new master key during operation, and interrupted rotations."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from mailqueue.contract.maintenance import Rotated
from mailqueue.core.errors import ConfigError, NotFound, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault import store
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.rotation import SEALED_COLUMNS, rotate
from mailqueue.vault.vault import check_master_key
from tests import make
from tests.vault.sealed import FIRST, SECOND, data_keys, secrets

pytestmark = pytest.mark.anyio

NOT_SEALED = {
    ("address_keys", "inner_pad"),
    ("address_keys", "outer_pad"),
    ("administrators", "token_hash"),
    ("inbound_endpoints", "token_hash"),
    ("inbound_events", "body"),
    ("api_keys", "key_hash"),
    ("attachments", "octets"),
    ("attachments", "sha256"),
    ("audit_keys", "wrapped"),
    ("audit_seals", "addresses"),
    ("audit_seals", "code"),
    ("audit_seals", "row_code"),
    ("audit_seals", "skeleton"),
    ("console_actions", "token_hash"),
    ("console_attempts", "client_hash"),
    ("console_challenges", "bound_hash"),
    ("console_challenges", "challenge"),
    ("console_passkeys", "credential_id"),
    ("console_passkeys", "public_key"),
    ("console_recovery_codes", "code_hash"),
    ("console_second_factors", "sealed"),  # by the master key itself: see test_users.py
    ("console_sessions", "browser_hash"),
    ("console_sessions", "token_hash"),
    ("console_users", "link_hash"),
    ("console_users", "reset_hash"),
    ("data_keys", "wrapped"),
    ("dead_letters", "digest"),
    ("erasures", "address_hash"),
    ("export_parts", "data"),
    ("import_parts", "data"),
    ("idempotency_keys", "fingerprint"),
    ("inbox_consents", "state_hash"),
    ("inbox_links", "token_hash"),
    ("inbox_sessions", "browser_hash"),
    ("inbox_sessions", "token_hash"),
    ("idempotent_answers", "body"),
    ("idempotent_answers", "fingerprint"),
    ("inbox_state", "row_version"),
    ("key_grants", "wrapped"),
    ("marketing_counts", "address_hash"),
    ("outbox_state", "row_version"),
    ("subscription_preferences", "address_hash"),
    ("suppression_history", "address_hash"),
    ("suppressions", "address_hash"),
    ("template_pictures", "octets"),
    ("template_pictures", "sha256"),
    ("tracked_links", "link"),
    ("trap_messages", "raw"),
    ("slack_installations", "state_hash"),
    ("phone_registrations", "code_hash"),
}
BYTES = """
    SELECT c.relname::text, a.attname::text
      FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
       AND a.atttypid = 'bytea'::regtype
"""


class Interrupted(Exception):
    """The rotation was killed here."""


async def test_every_secret_opens_under_the_new_key_alone_after_a_rotation(conn: Conn) -> None:
    shop, blog = await secrets(conn, "shop"), await secrets(conn, "blog", passwords=1)

    done = await rotate(conn, SECOND, by="me")

    assert done == Rotated(rewrapped=2, renewed=2, resealed=5, damaged=())
    alone = replace(SECOND, previous=None)
    for each in (shop, blog):
        assert await each.are_readable(conn, alone)
        assert await data_keys(conn, each.project_id) == [
            ("retired", "platform", SECOND.id),
            ("active", "platform", SECOND.id),
        ]
    await check_master_key(conn, alone)
    with pytest.raises(ConfigError, match=SECOND.id):
        await check_master_key(conn, FIRST)


async def test_a_rotation_that_is_done_has_nothing_more_to_do(conn: Conn) -> None:
    await secrets(conn, "shop")
    await rotate(conn, SECOND, by="me")
    before = await make.rows(conn, "SELECT smtp_password FROM mailqueue.sender_accounts")

    assert await rotate(conn, SECOND, by="me") == Rotated(0, 0, 0, ())

    assert await make.rows(conn, "SELECT smtp_password FROM mailqueue.sender_accounts") == before
    noted = "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'vault.rotated'"
    assert await make.scalar(conn, noted) == 1


async def test_workers_that_know_both_keys_read_everything_before_and_after(conn: Conn) -> None:
    shop = await secrets(conn, "shop")

    assert await shop.are_readable(conn, SECOND)
    await rotate(conn, SECOND, by="me")
    assert await shop.are_readable(conn, SECOND)


async def test_a_value_that_was_read_before_it_was_sealed_anew_still_opens(conn: Conn) -> None:
    """A worker reads an account and then its key: the rotation may happen in between."""
    shop = await secrets(conn, "shop", passwords=1)
    account_id = next(iter(shop.passwords))
    read = await make.scalar(
        conn, "SELECT smtp_password FROM mailqueue.sender_accounts WHERE id = %s", account_id
    )

    await rotate(conn, SECOND, by="me")
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET smtp_password = %s WHERE id = %s", (read, account_id)
    )

    assert await shop.are_readable(conn, SECOND)


async def test_without_the_key_before_nothing_is_touched(conn: Conn) -> None:
    shop = await secrets(conn, "shop")

    with pytest.raises(ConfigError, match=f"sealed under {FIRST.id}"):
        await rotate(conn, replace(SECOND, previous=None), by="me")

    assert await data_keys(conn, shop.project_id) == [("active", "platform", FIRST.id)]


async def test_data_keys_are_replaced_when_asked_though_the_master_key_stays(conn: Conn) -> None:
    shop, blog = await secrets(conn, "shop"), await secrets(conn, "blog")

    done = await rotate(conn, FIRST, project="shop", is_forced=True, by="me")

    assert (done.rewrapped, done.renewed, done.resealed) == (0, 1, 3)
    assert len(await data_keys(conn, shop.project_id)) == 2
    assert len(await data_keys(conn, blog.project_id)) == 1
    assert await shop.are_readable(conn, FIRST)
    with pytest.raises(NotFound, match="project nowhere"):
        await rotate(conn, FIRST, project="nowhere", is_forced=True, by="me")


async def test_a_value_that_no_key_opens_is_named_and_holds_nothing_else_up(conn: Conn) -> None:
    shop = await secrets(conn, "shop", passwords=3)
    first, second = list(shop.passwords)[:2]
    await conn.execute(
        "UPDATE mailqueue.sender_accounts AS a SET smtp_password = o.smtp_password"
        " FROM mailqueue.sender_accounts AS o WHERE a.id = %s AND o.id = %s",
        (second, first),
    )

    done = await rotate(conn, SECOND, by="me")

    assert done.resealed == 3
    assert [f"of {second} cannot be opened" in each for each in done.damaged] == [True]
    del shop.passwords[second]
    assert await shop.are_readable(conn, SECOND)
    assert "decrypt_only" in [each[0] for each in await data_keys(conn, shop.project_id)]


@pytest.mark.parametrize("place", range(8))
async def test_a_rotation_killed_anywhere_goes_on_where_it_was(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """At every point all secrets open with both keys, and at the end with the new one alone."""
    async with connect(database) as conn:
        shop, blog = await secrets(conn, "shop"), await secrets(conn, "blog")
    await _killed_at(database, monkeypatch, place)

    async with connect(database) as conn:
        assert await shop.are_readable(conn, SECOND)
        assert await blog.are_readable(conn, SECOND)
        await rotate(conn, SECOND, by="me")

        alone = replace(SECOND, previous=None)
        for each in (shop, blog):
            assert await each.are_readable(conn, alone)
            states = [state for state, _, _ in await data_keys(conn, each.project_id)]
            assert states == ["retired", "active"]


async def _killed_at(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """Close the rotation's connection before its nth write."""
    writes = 0
    with monkeypatch.context() as patched:
        for name in ("rewrap", "add_data_key", "replace_sealed", "note_key_cleared"):
            real = getattr(store, name)

            async def counted(*args: Any, real: Any = real, **kwargs: Any) -> Any:
                nonlocal writes
                writes += 1
                if writes > place:
                    raise Interrupted
                return await real(*args, **kwargs)

            patched.setattr(store, name, counted)
        async with connect(database) as conn:
            with pytest.raises(Interrupted):
                await rotate(conn, SECOND, by="me")


async def test_secrets_that_come_while_it_rotates_are_sealed_with_a_key_that_stays(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await secrets(conn, "p0")
    first = replace(FIRST, previous=SECOND)  # seals with the old one, and is told of the new one

    async def others(number: int) -> None:
        async with connect(database) as conn:
            await secrets(conn, f"p{number}", master=SECOND if number % 2 else first)

    async def rotating() -> None:
        async with connect(database) as conn:
            await rotate(conn, SECOND, by="me")

    await asyncio.gather(rotating(), *(others(number) for number in range(1, 5)), rotating())

    async with connect(database) as conn:
        await rotate(conn, SECOND, by="me")
        left = "SELECT count(*) FROM mailqueue.data_keys WHERE state = 'decrypt_only'"
        assert await make.scalar(conn, left) == 0
        await check_master_key(conn, replace(SECOND, previous=None))


async def test_a_moved_value_does_not_open(conn: Conn) -> None:
    """A ciphertext is bound to its project, table, column and row."""
    shop = await secrets(conn, "shop")
    first, second = shop.passwords
    await conn.execute(
        "UPDATE mailqueue.sender_accounts AS a SET smtp_password = o.smtp_password"
        " FROM mailqueue.sender_accounts AS o WHERE a.id = %s AND o.id = %s",
        (second, first),
    )

    with pytest.raises(SealBroken, match=f"sender_accounts.smtp_password of {second}"):
        await shop.are_readable(conn, FIRST)


async def test_every_sealed_column_of_the_schema_is_known_to_rotations(conn: Conn) -> None:
    known = {(each.table, each.column) for each in SEALED_COLUMNS}
    found = {(table, column) for table, column in await make.rows(conn, BYTES)}

    assert known <= found
    assert found - known - NOT_SEALED == set(), (
        "name it in SEALED_COLUMNS, or here if nothing in it is sealed"
    )


def test_a_key_at_hand_is_found_by_its_name() -> None:
    assert SECOND.named(SECOND.id) is SECOND
    assert SECOND.named(FIRST.id) is FIRST
    assert SECOND.named("another") is None
    assert SECOND.ids == (SECOND.id, FIRST.id)
    assert FIRST.key.hex() not in repr(SECOND)
    assert MasterKey(FIRST.key).ids == (FIRST.id,)

"""Projects with their own key: when their secrets can be opened, and what is never stored."""

from datetime import timedelta
from uuid import UUID

import pytest

from mailqueue.contract.maintenance import WrappedBy
from mailqueue.core.errors import Conflict, InvalidField, Locked, NotFound, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.domains import keys
from mailqueue.vault import ownkey, store
from mailqueue.vault.model import OwnKey
from mailqueue.vault.rotation import rotate
from mailqueue.vault.vault import check_master_key
from tests import make
from tests.vault.sealed import FIRST, SECOND, Secrets, data_keys, secrets

pytestmark = pytest.mark.anyio

OWN = OwnKey(bytes(range(100, 132)))
OTHER = OwnKey(bytes(32))
HOUR = timedelta(hours=1)
EVERYTHING = """
    SELECT string_agg(x::text, '') FROM (
        SELECT to_jsonb(t) AS x FROM mailqueue.data_keys AS t
        UNION ALL SELECT to_jsonb(t) FROM mailqueue.key_grants AS t
        UNION ALL SELECT to_jsonb(t) FROM mailqueue.audit_events AS t
        UNION ALL SELECT to_jsonb(t) FROM mailqueue.limits AS t) AS all_of_it
"""


async def own_secrets(conn: Conn, *, unlock_for: timedelta | None = None) -> Secrets:
    shop = await secrets(conn, "shop")
    await ownkey.set_own(conn, "shop", own=OWN, master=FIRST, unlock_for=unlock_for, by="me")
    return shop


async def unlock(conn: Conn, *, own: OwnKey = OWN, lasts: timedelta = HOUR) -> None:
    await ownkey.unlock(conn, "shop", own=own, master=FIRST, lasts=lasts, by="me")


async def time_is_over(conn: Conn, project_id: UUID) -> None:
    """Let the project's time end now."""
    await conn.execute("UPDATE mailqueue.key_grants SET expires_at = clock_timestamp()")
    await store.keep_project_lock(conn, project_id)


async def test_a_project_with_its_own_key_is_locked_until_it_unlocks(conn: Conn) -> None:
    shop = await own_secrets(conn)

    with pytest.raises(Locked, match=rf"own key \({OWN.id}\).*mailqueue vault byok unlock"):
        await shop.are_readable(conn, FIRST)
    await unlock(conn)
    assert await shop.are_readable(conn, FIRST)
    await ownkey.lock(conn, "shop", by="me")
    with pytest.raises(Locked):
        await shop.are_readable(conn, FIRST)


async def test_it_can_be_unlocked_at_once(conn: Conn) -> None:
    shop = await own_secrets(conn, unlock_for=HOUR)

    assert await shop.are_readable(conn, FIRST)
    (vault,) = await ownkey.list_vaults(conn, project="shop")
    assert (vault.wrapped_by, vault.master_key_id, vault.is_locked) == (
        WrappedBy.OWN,
        OWN.id,
        False,
    )
    assert vault.unlocked_until is not None


async def test_when_the_time_is_over_nothing_opens_and_the_grant_is_forgotten(conn: Conn) -> None:
    shop = await own_secrets(conn, unlock_for=HOUR)
    await time_is_over(conn, shop.project_id)

    with pytest.raises(Locked):
        await shop.are_readable(conn, FIRST)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.key_grants") == 1
    await make.scalar(conn, "SELECT mailqueue.rescue_emails(interval '30 s', NULL)")
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.key_grants") == 0
    expired = "SELECT subject FROM mailqueue.audit_events WHERE action = 'vault.expired'"
    assert await make.scalar(conn, expired) == "project shop"


async def test_a_time_that_is_put_off_in_the_table_does_not_open(conn: Conn) -> None:
    """The end is encrypted with the key: write access to the table cannot prolong it."""
    shop = await own_secrets(conn, unlock_for=HOUR)
    await conn.execute("UPDATE mailqueue.key_grants SET expires_at = expires_at + interval '1 y'")

    with pytest.raises(SealBroken):
        await shop.are_readable(conn, FIRST)


async def test_neither_the_key_nor_an_open_data_key_is_kept(conn: Conn) -> None:
    await own_secrets(conn, unlock_for=HOUR)

    kept = await make.scalar(conn, EVERYTHING)

    assert OWN.key.hex() not in kept
    assert OWN.id in kept
    assert repr(OWN) == "OwnKey()"
    await ownkey.lock(conn, "shop", by="me")
    wanted = await store.list_master_key_ids(conn)
    assert wanted == [], "a locked project's data key is wrapped by its own key alone"


async def test_another_key_unlocks_nothing_and_changes_nothing(conn: Conn) -> None:
    shop = await own_secrets(conn)

    with pytest.raises(InvalidField, match=f"{OTHER.id}.*is not the project's.*{OWN.id}"):
        await unlock(conn, own=OTHER)
    with pytest.raises(InvalidField, match=OTHER.id):
        await ownkey.release(conn, "shop", own=OTHER, master=FIRST, by="me")

    assert await data_keys(conn, shop.project_id) == [("active", "own", OWN.id)]
    with pytest.raises(Locked):
        await shop.are_readable(conn, FIRST)


async def test_a_released_project_is_the_platforms_again(conn: Conn) -> None:
    shop = await own_secrets(conn, unlock_for=HOUR)

    await ownkey.release(conn, "shop", own=OWN, master=FIRST, by="me")

    assert await shop.are_readable(conn, FIRST)
    assert await data_keys(conn, shop.project_id) == [("active", "platform", FIRST.id)]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.key_grants") == 0
    assert await make.scalar(conn, "SELECT max(locked_from) FROM mailqueue.limits") is None


async def test_to_and_fro_leaves_every_secret_as_it_was(conn: Conn) -> None:
    shop = await secrets(conn, "shop")
    await rotate(conn, FIRST, is_forced=True, by="me")  # a retired data key comes along
    for own in (OWN, OTHER, OWN):
        await ownkey.set_own(conn, "shop", own=own, master=FIRST, by="me")
        await ownkey.unlock(conn, "shop", own=own, master=FIRST, lasts=HOUR, by="me")
        assert await shop.are_readable(conn, FIRST)
        await ownkey.release(conn, "shop", own=own, master=FIRST, by="me")
        assert await shop.are_readable(conn, FIRST)


async def test_a_rotation_of_the_master_key_keeps_a_projects_time_running(conn: Conn) -> None:
    shop = await own_secrets(conn, unlock_for=HOUR)
    await check_master_key(conn, FIRST)

    done = await rotate(conn, SECOND, by="me")

    assert (done.rewrapped, done.renewed) == (1, 0)
    assert await shop.are_readable(conn, SECOND)
    assert await data_keys(conn, shop.project_id) == [("active", "own", OWN.id)]


async def test_new_secrets_of_a_locked_project_are_not_taken(conn: Conn) -> None:
    await own_secrets(conn)

    with pytest.raises(Locked):
        await keys.rotate(conn, "shop", domain="shop.example", master=FIRST, by="me")


async def test_what_does_not_fit_is_refused(conn: Conn) -> None:
    await secrets(conn, "shop")
    with pytest.raises(NotFound, match="project nowhere"):
        await ownkey.lock(conn, "nowhere", by="me")
    with pytest.raises(Conflict, match="mailqueue vault byok set shop"):
        await ownkey.lock(conn, "shop", by="me")
    await ownkey.set_own(conn, "shop", own=OWN, master=FIRST, by="me")
    with pytest.raises(Conflict, match="mailqueue vault byok release shop"):
        await ownkey.set_own(conn, "shop", own=OTHER, master=FIRST, by="me")
    for lasts in (timedelta(0), timedelta(days=367)):
        with pytest.raises(InvalidField, match="for: must be above 0"):
            await unlock(conn, lasts=lasts)


async def test_a_project_without_secrets_can_have_its_own_key_first(conn: Conn) -> None:
    project_id = await make.project(conn, "fresh")

    await ownkey.set_own(conn, "fresh", own=OWN, master=FIRST, by="me")

    assert await data_keys(conn, project_id) == [("active", "own", OWN.id)]


async def test_changes_are_written_down_without_the_key(conn: Conn) -> None:
    await own_secrets(conn)
    await unlock(conn)
    await ownkey.lock(conn, "shop", by="me")
    await ownkey.release(conn, "shop", own=OWN, master=FIRST, by="me")

    noted = await make.rows(
        conn,
        "SELECT action, actor, detail FROM mailqueue.audit_events"
        " WHERE action LIKE 'vault%' ORDER BY id",
    )

    assert noted == [
        ("vault.own_key_set", "me", {"key": OWN.id}),
        ("vault.unlocked", "me", {"key": OWN.id, "seconds": 3600}),
        ("vault.locked", "me", {}),
        ("vault.own_key_released", "me", {"key": OWN.id}),
    ]

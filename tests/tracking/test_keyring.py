"""The keys of tokens: one for each project, encrypted, loaded once, rotated during operation."""

from dataclasses import replace
from uuid import uuid4

import pytest

from mailqueue.core.errors import ConfigError, Conflict, Locked, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.tracking import keyring
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import InvalidToken, Token, TokenKind, key_id_of
from mailqueue.vault import ownkey
from mailqueue.vault.model import OwnKey
from mailqueue.vault.rotation import rotate
from tests import make
from tests.vault.sealed import FIRST, SECOND

pytestmark = pytest.mark.anyio

TOKEN = Token(TokenKind.UNSUBSCRIBE, uuid4())


def ring() -> Keyring:
    return Keyring(lambda: FIRST)


async def test_a_token_made_in_one_process_opens_in_another(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    maker, reader = ring(), ring()

    text = (await maker.of(conn, shop)).seal(TOKEN)
    opener = await reader.opener(conn, text)

    assert opener.open(text) == TOKEN
    assert opener.project_id == shop
    assert reader.held(text) is opener, "and the database is not asked again"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.tracking_keys") == 1


async def test_each_project_has_a_key_of_its_own(conn: Conn) -> None:
    shop, blog = await make.project(conn, "shop"), await make.project(conn, "blog")
    keys = ring()
    text = (await keys.of(conn, shop)).seal(TOKEN)

    with pytest.raises(InvalidToken):
        (await keys.of(conn, blog)).open(text)
    assert (await keys.opener(conn, text)).project_id == shop


async def test_a_token_that_names_no_key_of_ours_is_invalid(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    text = (await ring().of(conn, shop)).seal(TOKEN)

    for other in ("A" * 54, "", text[:-1], ("B" if text[0] != "B" else "C") + text[1:]):
        with pytest.raises(InvalidToken):
            await ring().opener(conn, other)


async def test_after_a_rotation_new_tokens_have_a_new_key_and_old_ones_stay_good(
    conn: Conn,
) -> None:
    shop = await make.project(conn, "shop")
    running = ring()
    before = (await running.of(conn, shop)).seal(TOKEN)

    await keyring.rotate(conn, FIRST, shop, by="tests")
    after = (await ring().of(conn, shop)).seal(TOKEN)

    assert key_id_of(before) != key_id_of(after)
    for text in (before, after):
        assert (await running.opener(conn, text)).open(text) == TOKEN
        assert (await ring().opener(conn, text)).open(text) == TOKEN


class Clock:
    """Monotonic seconds that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_tokens_of_a_revoked_key_open_nothing_and_running_processes_notice(
    conn: Conn,
) -> None:
    shop = await make.project(conn, "shop")
    clock = Clock()
    opening, making = (Keyring(lambda: FIRST, clock=clock) for _ in range(2))
    texts = [(await making.of(conn, shop)).seal(TOKEN)]
    await keyring.rotate(conn, FIRST, shop, by="tests")
    texts.append((await ring().of(conn, shop)).seal(TOKEN))
    for text in texts:
        assert (await opening.opener(conn, text)).open(text) == TOKEN
    old, new = (f"{key_id_of(text):x}" for text in texts)

    done = await keyring.revoke(conn, None, shop, old, by="tests")
    assert (done.id, done.revoked_at is not None) == (old, True)
    assert await keyring.revoke(conn, None, shop, old, by="tests") == done
    with pytest.raises(InvalidToken):
        await ring().opener(conn, texts[0])
    assert opening.held(texts[0]) is not None, "for a minute"
    clock.now += keyring.REVOKED_SECONDS
    assert opening.held(texts[0]) is opening.held(texts[1]) is None
    with pytest.raises(InvalidToken):
        await opening.opener(conn, texts[0])
    assert (await opening.opener(conn, texts[1])).open(texts[1]) == TOKEN
    assert opening.held(texts[1]) is not None

    made = (await making.of(conn, shop)).seal(TOKEN)
    assert key_id_of(made) == int(new, 16), "not with the revoked key, nor with an older one"


async def test_revoking_the_key_that_makes_tokens_replaces_it(conn: Conn) -> None:
    shop, blog = await make.project(conn, "shop"), await make.project(conn, "blog")
    clock = Clock()
    running = Keyring(lambda: FIRST, clock=clock)
    before = (await running.of(conn, shop)).seal(TOKEN)
    key = f"{key_id_of(before):x}"

    with pytest.raises(Conflict, match="no master key"):
        await keyring.revoke(conn, None, shop, key, by="tests")
    for project, wrong in ((blog, key), (shop, "0"), (shop, "x"), (shop, "")):
        with pytest.raises(NotFound):
            await keyring.revoke(conn, FIRST, project, wrong, by="tests")
    await keyring.revoke(conn, FIRST, shop, key, by="tests")

    clock.now += keyring.REVOKED_SECONDS
    with pytest.raises(InvalidToken):
        await running.opener(conn, before)
    after = (await running.of(conn, shop)).seal(TOKEN)
    assert key_id_of(after) != key_id_of(before)
    assert (await running.opener(conn, after)).open(after) == TOKEN
    in_force = {one.id: one.revoked_at is None for one in await keyring.keys_of(conn, shop)}
    assert in_force == {key: False, f"{key_id_of(after):x}": True}
    audit = "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'tracking.%' ORDER BY id"
    assert await make.rows(conn, audit) == [("tracking.rotated",), ("tracking.revoked",)]


async def test_a_key_is_revoked_while_the_project_keeps_its_own_key_to_itself(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    clock = Clock()
    running = Keyring(lambda: FIRST, clock=clock)
    old = (await running.of(conn, shop)).seal(TOKEN)
    await keyring.rotate(conn, FIRST, shop, by="tests")
    new = (await ring().of(conn, shop)).seal(TOKEN)
    fresh = Keyring(lambda: FIRST, clock=clock)
    await fresh.opener(conn, new)
    await ownkey.set_own(conn, "shop", own=OwnKey(bytes(32)), master=FIRST, by="me")

    await keyring.revoke(conn, None, shop, f"{key_id_of(old):x}", by="tests")

    clock.now += keyring.REVOKED_SECONDS
    with pytest.raises(InvalidToken):
        await fresh.opener(conn, old)
    assert (await fresh.opener(conn, new)).open(new) == TOKEN


async def test_tokens_stay_good_under_a_new_master_key(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    text = (await ring().of(conn, shop)).seal(TOKEN)

    await rotate(conn, SECOND, by="me")

    alone = Keyring(lambda: replace(SECOND, previous=None))
    assert (await alone.opener(conn, text)).open(text) == TOKEN


async def test_without_a_master_key_it_is_said_what_is_missing(conn: Conn) -> None:
    shop = await make.project(conn, "shop")

    with pytest.raises(ConfigError, match="MAILQUEUE_MASTER_KEY"):
        await Keyring(lambda: None).of(conn, shop)


async def test_while_a_project_keeps_its_own_key_to_itself_only_who_has_the_seals_opens_tokens(
    conn: Conn,
) -> None:
    shop = await make.project(conn, "shop")
    running = ring()
    text = (await running.of(conn, shop)).seal(TOKEN)

    await ownkey.set_own(conn, "shop", own=OwnKey(bytes(32)), master=FIRST, by="me")

    assert (await running.opener(conn, text)).open(text) == TOKEN
    with pytest.raises(Locked):
        await ring().opener(conn, text)

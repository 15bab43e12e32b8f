"""The keys of tokens: one for each project, encrypted, loaded once, rotated during operation."""

from dataclasses import replace
from uuid import uuid4

import pytest

from mailqueue.core.errors import ConfigError, Locked
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

    await keyring.rotate(conn, FIRST, shop)
    after = (await ring().of(conn, shop)).seal(TOKEN)

    assert key_id_of(before) != key_id_of(after)
    for text in (before, after):
        assert (await running.opener(conn, text)).open(text) == TOKEN
        assert (await ring().opener(conn, text)).open(text) == TOKEN


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

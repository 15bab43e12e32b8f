"""Tokens in links: opaque, of one project and one kind, and impossible to forge."""

import os
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.tracking.tokens import (
    LINK_BYTES,
    MAX_KEY_ID,
    InvalidToken,
    Seals,
    Token,
    TokenKind,
    TrackingKey,
    key_id_of,
)

SHOP, BLOG = UUID(int=1), UUID(int=2)
EMAIL = UUID("018f4a50-0000-7000-8000-000000000001")
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def key(number: int = 7, project: UUID = SHOP, secret: bytes | None = None) -> TrackingKey:
    return TrackingKey(number, project, secret or bytes(range(32)))


def token(kind: TokenKind) -> Token:
    return Token(kind, EMAIL, 3, bytes(range(LINK_BYTES)) if kind is TokenKind.CLICK else b"")


@pytest.mark.parametrize("kind", TokenKind)
def test_a_token_comes_back_as_it_was_made(kind: TokenKind) -> None:
    seals = Seals([key()])

    text = seals.seal(token(kind))

    assert seals.open(text) == seals.open(text, kind) == token(kind)
    assert key_id_of(text) == 7
    assert len(text) == (70 if kind is TokenKind.CLICK else 54)
    assert set(text) <= set(ALPHABET)


def test_the_same_mail_says_the_same_when_it_is_sent_again() -> None:
    assert Seals([key()]).seal(token(TokenKind.OPEN)) == Seals([key()]).seal(token(TokenKind.OPEN))


def test_nothing_of_the_mail_can_be_read_in_a_token() -> None:
    seals = Seals([key()])
    one, two = (seals.seal(Token(TokenKind.OPEN, EMAIL, n)) for n in (0, 1))

    assert one[:6] == two[:6], "the id of the key"
    assert sum(a == b for a, b in zip(one[7:], two[7:], strict=True)) < 12


@pytest.mark.parametrize("made", TokenKind)
@pytest.mark.parametrize("asked", TokenKind)
def test_a_token_of_one_kind_is_good_for_no_other(made: TokenKind, asked: TokenKind) -> None:
    seals = Seals([key()])
    text = seals.seal(token(made))

    if made is asked:
        assert seals.open(text, asked).kind is made
    else:
        with pytest.raises(InvalidToken):
            seals.open(text, asked)


def test_a_token_of_one_project_is_good_for_no_other_even_under_the_same_secret() -> None:
    text = Seals([key()]).seal(token(TokenKind.UNSUBSCRIBE))

    for other in (key(project=BLOG), key(8), key(secret=os.urandom(32))):
        with pytest.raises(InvalidToken):
            Seals([other]).open(text)


def test_tokens_made_before_a_rotation_stay_good_and_new_ones_name_the_new_key() -> None:
    old = key(7, secret=os.urandom(32))
    before = Seals([old])
    after = Seals([key(9, secret=os.urandom(32)), old])

    made = before.seal(token(TokenKind.CLICK))

    assert after.open(made) == token(TokenKind.CLICK)
    assert key_id_of(after.seal(token(TokenKind.CLICK))) == 9
    with pytest.raises(InvalidToken):
        before.open(after.seal(token(TokenKind.CLICK)))


def test_one_changed_character_makes_a_token_invalid() -> None:
    seals = Seals([key()])
    text = seals.seal(token(TokenKind.UNSUBSCRIBE))

    for place in range(len(text)):
        for other in (ALPHABET[(ALPHABET.index(text[place]) + step) % 64] for step in (1, 2, 32)):
            with pytest.raises(InvalidToken):
                seals.open(text[:place] + other + text[place + 1 :])


def test_a_token_has_one_spelling() -> None:
    seals = Seals([key()])
    text = seals.seal(token(TokenKind.UNSUBSCRIBE))
    click = seals.seal(token(TokenKind.CLICK))

    for other in (text + "==", text + "=", f" {text}", f"{text}\n", text[:9] + "!" + text[9:]):
        with pytest.raises(InvalidToken):
            seals.open(other)
    for spare in ALPHABET:  # the last character has bits that say nothing
        if spare != click[-1]:
            with pytest.raises(InvalidToken):
                seals.open(click[:-1] + spare)


@given(st.text(max_size=100) | st.text(ALPHABET, min_size=50, max_size=75))
def test_whatever_stands_in_a_link_is_a_token_or_invalid(text: str) -> None:
    with pytest.raises(InvalidToken):
        Seals([key()]).open(text)


@given(st.sampled_from(TokenKind), st.uuids(), st.integers(0, 65535), st.integers(1, MAX_KEY_ID))
def test_every_mail_and_recipient_has_tokens(
    kind: TokenKind, email: UUID, recipient: int, number: int
) -> None:
    seals = Seals([key(number)])
    one = Token(kind, email, recipient, os.urandom(LINK_BYTES) if kind is TokenKind.CLICK else b"")

    assert seals.open(seals.seal(one), kind) == one


def test_a_link_is_named_alike_in_all_mail_of_a_project_and_otherwise_elsewhere() -> None:
    url = "https://example.com/?a=1"

    assert Seals([key()]).link_of(url) == Seals([key()]).link_of(url)
    assert len(Seals([key()]).link_of(url)) == LINK_BYTES
    assert Seals([key()]).link_of(url) != Seals([key(project=BLOG)]).link_of(url)
    assert Seals([key()]).link_of(url) != Seals([key()]).link_of(url + "2")


def test_seals_of_no_key_or_of_two_projects_are_refused() -> None:
    for keys in ([], [key(), key(8, BLOG)]):
        with pytest.raises(ValueError, match="one project"):
            Seals(keys)
    with pytest.raises(ValueError, match="32 bytes"):
        Seals([key(secret=b"short")])


@pytest.mark.parametrize(
    ("kind", "link"),
    [(TokenKind.CLICK, b""), (TokenKind.OPEN, bytes(12)), (TokenKind.CLICK, bytes(11))],
)
def test_only_a_click_names_a_link(kind: TokenKind, link: bytes) -> None:
    with pytest.raises(ValueError, match=kind.name):
        Seals([key()]).seal(Token(kind, uuid4(), 0, link))


def test_a_key_is_not_shown() -> None:
    assert bytes(range(32)).hex() not in repr(key())
    assert "\\x01\\x02" not in repr(key())

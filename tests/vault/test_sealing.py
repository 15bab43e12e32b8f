"""The layout of an encrypted value, and its binding to one row."""

from dataclasses import replace
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mailqueue.core.errors import SealBroken
from mailqueue.vault.sealing import DataKey, SealedCell, bound_to, encrypt, open_with, seal_with

PROJECT = UUID("019abcde-0000-7000-8000-000000000007")
KEY = DataKey(UUID("019abcde-0000-7000-8000-000000000003"), PROJECT, bytes(range(32)))
PLACE = SealedCell(PROJECT, "sender_accounts", "password_sealed", 42)
NONCE = bytes(range(12))


def test_the_cipher_agrees_with_the_published_vector() -> None:
    sealed = AESGCM(bytes(range(32))).encrypt(
        NONCE, b"secret", b"mq1|tenant=7|col=smtp_password|row=42|k=3"
    )

    assert sealed.hex() == "3467b569a0914737e2540736c68c02a336c05474d5f9"


def test_the_layout_is_version_key_nonce_ciphertext_tag() -> None:
    sealed = encrypt(KEY, PLACE, b"secret", nonce=NONCE)

    assert sealed[:1] == b"\x01"
    assert sealed[1:17] == KEY.id.bytes
    assert sealed[17:29] == NONCE
    assert len(sealed) == 29 + len(b"secret") + 16
    assert sealed[29:] == AESGCM(KEY.key).encrypt(NONCE, b"secret", bound_to(PLACE, KEY.id))


def test_a_value_sealed_by_an_earlier_release_still_opens() -> None:
    """Fixed bytes: a change of layout or binding would lose every stored credential."""
    sealed = bytes.fromhex(
        "01019abcde000070008000000000000003000102030405060708090a0b"
        "3467b569a091e72a18b107e5b6cac1625d198c6e029b"
    )

    assert open_with(KEY, PLACE, sealed) == b"secret"


def test_what_was_sealed_before_its_table_was_renamed_still_opens() -> None:
    before = SealedCell(PROJECT, "inline_servers", "sealed", 42)
    now = SealedCell(PROJECT, "custom_smtp_servers", "sealed", 42)

    assert open_with(KEY, now, seal_with(KEY, before, b"secret")) == b"secret"


def test_the_binding_tells_fields_apart() -> None:
    one = SealedCell(PROJECT, "ab", "c", 1)
    other = SealedCell(PROJECT, "a", "bc", 1)

    assert bound_to(one, KEY.id) != bound_to(other, KEY.id)


def test_what_was_sealed_opens_in_its_place() -> None:
    for plaintext in (b"", b"secret", "pä\x00ss".encode(), b"x" * 100_000):
        assert open_with(KEY, PLACE, seal_with(KEY, PLACE, plaintext)) == plaintext


def test_sealing_twice_gives_different_bytes() -> None:
    assert len({seal_with(KEY, PLACE, b"secret") for _ in range(10_000)}) == 10_000


@pytest.mark.parametrize(
    "elsewhere",
    [
        replace(PLACE, row_id=43),
        replace(PLACE, column="username"),
        replace(PLACE, table="email_accounts"),
        replace(PLACE, project_id=UUID(int=1)),
    ],
)
def test_a_value_moved_to_another_place_does_not_open(elsewhere: SealedCell) -> None:
    sealed = seal_with(KEY, PLACE, b"secret")

    with pytest.raises(SealBroken):
        open_with(replace(KEY, project_id=elsewhere.project_id), elsewhere, sealed)


def test_a_key_of_another_project_is_not_tried() -> None:
    sealed = seal_with(KEY, PLACE, b"secret")

    with pytest.raises(SealBroken):
        open_with(replace(KEY, project_id=UUID(int=1)), PLACE, sealed)


def test_another_key_under_the_same_id_does_not_open() -> None:
    sealed = seal_with(KEY, PLACE, b"secret")

    with pytest.raises(SealBroken):
        open_with(replace(KEY, key=bytes(32)), PLACE, sealed)


def test_a_flipped_bit_anywhere_is_noticed() -> None:
    sealed = seal_with(KEY, PLACE, b"secret")

    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 0x10
        with pytest.raises(SealBroken):
            open_with(KEY, PLACE, bytes(changed))


def test_a_shortened_or_longer_value_is_noticed() -> None:
    sealed = seal_with(KEY, PLACE, b"secret")

    for changed in (*(sealed[:length] for length in range(len(sealed))), sealed + b"\x00"):
        with pytest.raises(SealBroken):
            open_with(KEY, PLACE, changed)


def test_the_error_names_the_place_and_not_the_reason() -> None:
    sealed = seal_with(KEY, PLACE, b"secret")
    messages = set()
    for changed in (b"", sealed[:-1], b"\x02" + sealed[1:], bytes(len(sealed))):
        with pytest.raises(SealBroken) as caught:
            open_with(KEY, PLACE, changed)
        messages.add(str(caught.value))

    assert len(messages) == 1
    assert "sender_accounts.password_sealed of 42" in messages.pop()


def test_a_key_does_not_show_itself() -> None:
    assert KEY.key.hex() not in repr(KEY)
    assert repr(KEY.key) not in repr(KEY)

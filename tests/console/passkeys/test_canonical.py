"""CBOR of authenticators: what no decoder gets to see."""

import json
import re
from uuid import UUID

import cbor2
import pytest

from mailqueue.admin.users.passkeys import ceremony
from mailqueue.admin.users.passkeys.canonical import (
    NotCanonical,
    check_authenticator_data,
    check_value,
)
from mailqueue.admin.users.passkeys.model import StoredPasskey
from tests.console.passkeys.authenticator import content, text
from tests.console.passkeys.using import URL, device

KEY = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(300)})
EXTENSIONS = cbor2.dumps({"credProtect": 3, "more": [True, None, {"deep": "text"}]})
EXPRESSION = b"\xd8\x23" + cbor2.dumps("(?i)" + "[ -\uffff]" * 1400)
"""A regular expression that takes ten seconds to compile."""


def said(flags: int, rest: bytes) -> bytes:
    named = bytes(16) + (4).to_bytes(2, "big") + b"name" if flags & 0x40 else b""
    return bytes(32) + bytes([flags]) + bytes(4) + named + rest


def attested(statement: object, data: bytes) -> bytes:
    return cbor2.dumps({"fmt": "packed", "attStmt": statement, "authData": data})


def test_what_devices_say_is_taken() -> None:
    check_authenticator_data(said(0x05, b""))
    check_authenticator_data(said(0x45, KEY))
    check_authenticator_data(said(0x85, EXTENSIONS))
    check_authenticator_data(said(0xC5, KEY + EXTENSIONS))
    check_value(attested({"alg": -7, "sig": bytes(70)}, said(0xC5, KEY + EXTENSIONS)))
    longer = b"\xa2\x68authData\x59\x00\x25" + said(0x05, b"") + b"\x63fmt\x64none"
    check_value(longer)


@pytest.mark.parametrize(
    "rest",
    [
        EXPRESSION,
        b"\xa1\x01" + EXPRESSION,
        b"\xa1" + EXPRESSION + b"\x01",
        b"\xd9\x00\x23\x61a",
        b"\x9f\x01\xff",
        b"\xfb" + bytes(8),
        b"\x18\x01",
        b"\x19\x00\xff",
        b"\x01\x01",
        b"\x42a",
        b"\x82\x01",
        b"\x9b" + b"\xff" * 8,
        b"\x5b" + b"\xff" * 8,
        b"\x1b\x01",
        b"",
    ],
)
def test_tags_and_other_forms_are_refused_before_they_are_decoded(rest: bytes) -> None:
    for flags in (0x45, 0x85):
        with pytest.raises((NotCanonical, IndexError)):
            check_authenticator_data(said(flags, rest))
    with pytest.raises((NotCanonical, IndexError)):
        check_authenticator_data(said(0xC5, KEY + rest))


def test_a_key_that_is_read_differently_ends_nothing_too_early() -> None:
    mended = bytes.fromhex("a301634f4b500327206745643235353139")  # the library reads a pair more

    with pytest.raises((NotCanonical, IndexError)):
        check_authenticator_data(said(0xC5, mended + b"\x21" + EXPRESSION))


@pytest.mark.parametrize(
    "wrong",
    [attested({"x5c": [cbor2.CBORTag(35, "a")]}, b""), attested({}, b"") + b"\x00", b""],
)
def test_a_statement_and_an_end_are_checked_too(wrong: bytes) -> None:
    with pytest.raises((NotCanonical, IndexError)):
        check_value(wrong)


def test_no_answer_makes_a_regular_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(re, "compile", compiled.append)
    cbor2.loads(b"\xd8\x23\x61a")
    is_seen = len(compiled)
    party, challenge, user = ceremony.relying_party_of(URL), bytes(32), UUID(int=1)
    assert party is not None
    options = ceremony.creation_options(party, challenge, user=user, name="ann", present=())
    answer = json.loads(device().make(json.loads(options))[1])
    made = cbor2.loads(content(answer["response"]["attestationObject"]))
    answer["response"]["attestationObject"] = text(
        cbor2.dumps(made | {"attStmt": {"x": cbor2.CBORTag(35, "a")}})
    )
    with pytest.raises(ceremony.NotValid):
        ceremony.new_passkey(party, challenge, json.dumps(answer))
    signed = json.loads(device().sign({"challenge": text(challenge)}))
    data = bytearray(content(signed["response"]["authenticatorData"]) + b"\xd8\x23\x61a")
    data[32] |= 0x80
    signed["response"]["authenticatorData"] = text(bytes(data))
    stored = StoredPasskey(user, user, "", is_known_browser=False, public_key=KEY)
    with pytest.raises(ceremony.NotValid):
        ceremony.verified_count(party, challenge, json.dumps(signed), stored)

    assert (is_seen, len(compiled)) == (1, 1)

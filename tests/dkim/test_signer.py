"""Signatures verify with independent verifiers, and no longer after a change."""

from base64 import b64decode
from pathlib import Path
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mailqueue.dkim.canonical import relaxed_headers
from mailqueue.dkim.keys import Algorithm, SigningKey
from mailqueue.dkim.signer import BodyHashes, DomainSigner, Signers
from tests.dkim import messages
from tests.dkim.signing import AT, BOTH, MESSAGE, opendkim_says, signed, signer, verdicts

# RFC 8463 appendix A: the message, the key and the signature made of them.
_PUBLISHED = (
    b"From: Joe SixPack <joe@football.example.com>\r\nTo: Suzie Q <suzie@shopping.example.net>\r\n"
    b"Subject: Is dinner ready?\r\nDate: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\r\n"
    b"Message-ID: <20030712040037.46341.5F8J@football.example.com>\r\n\r\n"
    b"Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n"
)
_SEED = b64decode("nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=")
_TAGS = (
    b"v=1; a=ed25519-sha256; c=relaxed/relaxed; d=football.example.com; i=@football.example.com; "
    b"q=dns/txt; s=brisbane; t=1528637909; h=from : to : subject : date : message-id : from : "
    b"subject : date; bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=; b="
)
_SIGNATURE = b64decode(
    "/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw=="
)


def test_the_published_signature_comes_out() -> None:
    """Ed25519 has one signature per message: equal signatures prove equal input."""
    head, _, body = _PUBLISHED.partition(b"\r\n\r\n")
    headers = relaxed_headers(head)
    names = (b"from", b"to", b"subject", b"date", b"message-id")
    covered = b"".join(b"%b:%b\r\n" % (name, headers[name][0]) for name in names)
    key = SigningKey(
        "football.example.com",
        "brisbane",
        Algorithm.ED25519,
        Ed25519PrivateKey.from_private_bytes(_SEED),
    )

    assert BodyHashes().of(body) == b"2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8="
    assert key.sign(covered + b"dkim-signature:" + _TAGS) == _SIGNATURE


@pytest.mark.parametrize("algorithms", [BOTH, BOTH[:1], BOTH[1:]])
def test_each_key_of_a_domain_signs(algorithms: tuple[Algorithm, ...]) -> None:
    assert verdicts(signed(MESSAGE, *algorithms)) == [True] * len(algorithms)


def test_a_thousand_strange_messages_verify() -> None:
    _verify_many(1000, seed=8463)


@pytest.mark.soak
def test_ten_thousand_strange_messages_verify() -> None:
    _verify_many(10_000, seed=6376)


def _verify_many(count: int, *, seed: int) -> None:
    random, ours = Random(seed), signer()
    for _ in range(count):
        message = messages.message(random)
        made = ours.sign(message, AT)

        assert verdicts(made + message) == [True, True], message
        assert max(map(len, made.split(b"\r\n"))) <= 78


@pytest.mark.opendkim
def test_opendkim_verifies_them_too(tmp_path: Path) -> None:
    """OpenDKIM supports RSA only."""
    random, ours = Random(4871), signer(Algorithm.RSA)
    found = [message for _ in range(200) if (message := messages.message(random)).isascii()]

    said = opendkim_says(tmp_path, [ours.sign(each, AT) + each for each in found])

    assert len(found) > 20
    assert [line for line in said if "verification (s=rsa" not in line] == []
    assert sum("succeeded" in line for line in said) == len(found)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Hello Ann", b"Hello Bob"),
        (b"Hello Ann\r\n", b"Hello Ann\r\nP.S.\r\n"),
        (b"shop@", b"ship@"),
        (b"Your order", b"Your 0rder"),
        (b"One-Click", b"Two-Click"),
        (b"/u/1", b"/u/2"),
        (b"text/plain", b"text/html"),
    ],
)
def test_what_is_altered_does_not_verify(old: bytes, new: bytes) -> None:
    assert verdicts(signed(MESSAGE).replace(old, new)) == [False, False]


@pytest.mark.parametrize(
    "name",
    [
        b"From", b"Sender", b"Reply-To", b"To", b"Cc", b"Subject", b"Date", b"Message-ID",
        b"MIME-Version", b"Content-Type", b"List-Unsubscribe", b"List-Unsubscribe-Post",
    ],
)  # fmt: skip
def test_a_header_added_on_the_way_does_not_verify(name: bytes) -> None:
    """Oversigning: mail programs show the first Subject or the last; both must be signed."""
    head, _, body = signed(MESSAGE).partition(b"\r\n\r\n")
    added = b"%b: other@example.net" % name

    assert verdicts(head + b"\r\n" + added + b"\r\n\r\n" + body) == [False, False]
    assert verdicts(added + b"\r\n" + head + b"\r\n\r\n" + body) == [False, False]


def test_what_servers_add_and_refold_still_verifies() -> None:
    message = signed(MESSAGE).replace(b"Subject: Your order", b"Subject:\r\n\tYour\r\n  order  ")

    assert verdicts(b"Received: by example.net\r\nX-Spam: no\r\n" + message) == [True, True]


def test_a_body_that_many_mails_share_is_hashed_once_and_others_are_told_apart() -> None:
    hashes, body = BodyHashes(), b"a" * 1000
    first = hashes.of(body)

    assert hashes.of(bytes(body)) is first
    assert hashes.of(b"b" * 1000) != first
    assert hashes.of(body) == first


def test_a_domain_is_signed_for_by_its_own_key_else_by_its_parents() -> None:
    parent, child = signer(), signer()
    signers = Signers({"example.com": parent, "news.example.com": child})

    assert signers.of("example.com") is parent
    assert signers.of("news.example.com") is child
    assert signers.of("shop.example.com") is parent
    assert signers.of("example.org") is None
    assert signers.of("badexample.com") is None
    assert Signers().of("example.com") is None


def test_keys_do_not_show_themselves() -> None:
    key = SigningKey("example.com", "a", Algorithm.ED25519, Ed25519PrivateKey.generate())

    assert repr(key) == (
        "SigningKey(domain='example.com', selector='a', "
        "algorithm=<Algorithm.ED25519: 'ed25519-sha256'>)"
    )
    assert DomainSigner([key]).sign(MESSAGE, AT).startswith(b"DKIM-Signature: v=1; ")

"""The headers of one-click unsubscribe are covered by the signature (RFC 8058, 4)."""

from uuid import UUID

import pytest

from mailqueue.dkim.signer import Signers
from mailqueue.mail.message.build import SkeletonCache, build_message
from mailqueue.mime.skeleton import MessageContent
from mailqueue.senders.model import MailDefaults
from mailqueue.tracking.injector import Injection
from mailqueue.tracking.pattern import (
    InjectionContext,
    InjectionPattern,
    TrackingOptions,
    unsubscribe_headers,
)
from mailqueue.tracking.tokens import Seals, TokenKind, TrackingKey
from mailqueue.tracking.urls import TrackingUrls
from tests.dkim.signing import DOMAIN, signer, verdicts
from tests.mail.claims import NOW, SENDER, loaded

BASE = "https://mail.example.com"


def message() -> bytes:
    what = loaded(html_body="<a href='https://example.com/'>x</a>")
    seals = Seals([TrackingKey(7, UUID(int=1), bytes(range(32)))])
    said = MessageContent("Hello", "<a href='https://example.com/'>x</a>", None)
    wants = TrackingOptions(opens=True, clicks=True, unsubscribe=True)
    pattern = InjectionPattern(said, wants, InjectionContext(BASE, seals), language="en")
    url = TrackingUrls(BASE, seals).of(TokenKind.UNSUBSCRIBE, what.claim.id)
    injection = Injection(pattern.filled(what.claim.id), None, unsubscribe_headers(said, url))
    letter = build_message(
        what._replace(tracked=injection),
        SkeletonCache(),
        identity=MailDefaults(SENDER),
        now=NOW,
        signers=Signers({DOMAIN: signer()}),
    )
    return letter.message


def test_what_is_put_into_mail_is_signed_with_it() -> None:
    made = message()

    assert verdicts(made) == [True, True]
    assert made.count(b"\r\nList-Unsubscribe: <https://mail.example.com/t/u/") == 1
    assert made.count(b"\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"List-Unsubscribe: <https://mail.", b"List-Unsubscribe: <https://evil."),
        (b"List-Unsubscribe-Post: List", b"X-Gone: List"),
        (b"From: ", b"List-Unsubscribe: <https://example.org/>\r\nFrom: "),
        (b"/t/c/", b"/t/d/"),
    ],
)
def test_unsubscribe_headers_changed_on_the_way_break_the_signature(old: bytes, new: bytes) -> None:
    made = message()
    assert old in made

    assert verdicts(made.replace(old, new, 1)) == [False, False]

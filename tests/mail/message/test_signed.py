"""Which keys sign a mail, and what happens to a mail without a key."""

from datetime import timedelta
from typing import Any

import pytest

from mailqueue.dkim.signer import Signers
from mailqueue.mail.message.build import NotSigned, SkeletonCache, build_message
from mailqueue.mail.model import Ending, LoadedEmail
from mailqueue.mail.send.concurrency import AccountSlots
from mailqueue.mail.send.context import SendAccount
from mailqueue.mail.send.prepare import UNSIGNED_WAIT, prepare
from mailqueue.ports.transport import SendAttempt
from mailqueue.senders.model import MailDefaults
from tests.dkim.signing import DOMAIN, signer, verdicts
from tests.mail.claims import NOW, SENDER, loaded
from tests.mail.send.scripted import RecordedContext, ScriptedServer


def written(what: LoadedEmail, signers: Signers) -> SendAttempt:
    return build_message(
        what, SkeletonCache(), identity=MailDefaults(SENDER), now=NOW, signers=signers
    )


@pytest.mark.parametrize(
    "says",
    [
        {"text_body": "Hello  Ann \n\n\n"},
        {"text_body": "Grüße\n" * 50, "subject": "Grüße " * 30},
        {"text_body": "a\n", "html_body": "<p>日本</p>" * 200},
        {"text_body": " " * 3000},
        {"headers": {"List-Unsubscribe": "<https://example.com/u/1>", "X-Long": "a  b " * 100}},
    ],
)
def test_a_letter_carries_signatures_of_exactly_what_is_sent(says: dict[str, Any]) -> None:
    letter = written(loaded(("cc", "bob@example.org"), **says), Signers({DOMAIN: signer()}))

    assert letter.message.count(b"DKIM-Signature: v=1;") == 2
    assert verdicts(letter.message) == [True, True]


def test_the_key_is_that_of_the_domain_in_from() -> None:
    signers = Signers({DOMAIN: signer()})

    assert b"DKIM-Signature" in written(loaded(from_email="a@news.example.com"), signers).message
    other = written(loaded(from_email="a@example.net"), signers).message
    assert other.startswith(b"From: ")


def test_where_signatures_are_required_others_are_not_written() -> None:
    signers = Signers({DOMAIN: signer()}, is_required=True)

    written(loaded(), signers)
    with pytest.raises(NotSigned, match=r"no DKIM key of example\.net is active"):
        written(loaded(from_email="a@example.net"), signers)


@pytest.mark.anyio
async def test_a_mail_that_must_be_signed_and_cannot_be_waits_and_spends_no_attempt() -> None:
    recorded, what = RecordedContext(), loaded()
    signers = Signers(is_required=True)
    account = SendAccount(
        1, 1, MailDefaults(SENDER), 4, timedelta(0), ScriptedServer(), signers=signers
    )
    slots = AccountSlots()

    made = await prepare([what], slots, account=account, context=recorded.context())

    assert made == []

    (settled,) = recorded.settled
    assert (settled.ending, settled.wait, settled.log) == (Ending.DEFER, UNSIGNED_WAIT, None)
    assert settled.reason == (
        "no DKIM key of example.com is active, and the project sends signed email only"
    )

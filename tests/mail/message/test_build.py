"""From and recipients of a mail, in its headers and on its envelope."""

from email import message_from_bytes
from email.message import Message

import pytest

from mailqueue.core.address import Mailbox
from mailqueue.mail.message.build import CannotCompose, SkeletonCache, build_message
from mailqueue.mail.model import LoadedEmail
from mailqueue.ports.transport import SendAttempt
from mailqueue.senders.model import MailDefaults
from tests.mail.claims import NOW, SENDER, claimed, content, loaded


def written(
    what: LoadedEmail, *, sender: Mailbox = SENDER, suppressed: tuple[str, ...] = ()
) -> SendAttempt:
    return build_message(
        what, SkeletonCache(), identity=MailDefaults(sender), now=NOW, suppressed=suppressed
    )


def headers(letter: SendAttempt) -> Message:
    return message_from_bytes(letter.message)


def test_mail_that_names_no_sender_is_from_the_account() -> None:
    letter = written(loaded())

    assert letter.envelope.sender == "shop@example.com"
    assert headers(letter)["From"] == "Shop <shop@example.com>"


def test_a_name_alone_stands_before_the_accounts_address() -> None:
    assert headers(written(loaded(from_name="Bob")))["From"] == "Bob <shop@example.com>"


def test_a_sender_of_its_own_decides_header_and_envelope() -> None:
    letter = written(loaded(from_email="bob@example.net"))

    assert headers(letter)["From"] == "bob@example.net"
    assert letter.envelope.sender == "bob@example.net"
    assert letter.message_id.rstrip(">").endswith("@example.net")


def test_to_and_cc_are_seen_and_bcc_is_only_told_to_the_server() -> None:
    others = (("to", "bob@example.org"), ("cc", "cy@example.org"), ("bcc", "dee@example.org"))

    letter = written(loaded(*others))

    seen = headers(letter)
    assert seen["To"] == "ann@example.org, bob@example.org"
    assert seen["Cc"] == "cy@example.org"
    assert b"dee@" not in letter.message
    assert letter.envelope.recipients == (
        "ann@example.org", "bob@example.org", "cy@example.org", "dee@example.org"
    )  # fmt: skip


def test_stopped_recipients_leave_the_envelope_and_stay_in_the_header() -> None:
    """Suppress: the message that others receive does not depend on who unsubscribed."""
    what = loaded(("cc", "cy@example.org"))

    letter = written(what, suppressed=("cy@example.org",))

    assert letter.envelope.recipients == ("ann@example.org",)
    assert letter.addresses == ("ann@example.org",)
    assert headers(letter)["Cc"] == "cy@example.org"


def test_one_of_the_mails_to_many_names_all_and_goes_to_its_own() -> None:
    named = {"to": ["Ann <ann@example.org>", "bo@bücher.example"], "cc": ["cy@example.org"]}
    mail = loaded(("bcc", "dee@example.org"), header_recipients=named)

    letter = written(mail)

    assert b"\r\nTo: Ann <ann@example.org>, bo@xn--bcher-kva.example\r\n" in letter.message
    assert b"\r\nCc: cy@example.org\r\n" in letter.message
    assert b"dee@" not in letter.message
    assert letter.envelope.recipients == ("ann@example.org", "dee@example.org")


def test_recipients_settled_before_are_not_sent_to_again() -> None:
    what = loaded(("cc", "cy@example.org"))
    done = what.recipients[0].__class__(what.claim.id, "to", "ann@example.org", None, "sent")

    letter = written(LoadedEmail(what.claim, what.content, (done, what.recipients[1])))

    assert letter.envelope.recipients == ("cy@example.org",)
    assert headers(letter)["To"] == "ann@example.org"


def test_an_address_named_twice_is_told_to_the_server_once() -> None:
    letter = written(loaded(("cc", "ann@example.org")))

    assert letter.envelope.recipients == ("ann@example.org",)


def test_the_domain_is_told_in_ascii_and_judged_as_it_was_given() -> None:
    letter = written(loaded(email=claimed(recipient_email="ann@bücher.example")))

    assert letter.envelope.recipients == ("ann@xn--bcher-kva.example",)
    assert letter.addresses == ("ann@bücher.example",)
    assert letter.envelope.needs_smtputf8 is False


def test_a_local_part_beyond_ascii_needs_smtputf8() -> None:
    letter = written(loaded(email=claimed(recipient_email="bücher@example.org")))

    assert letter.envelope.needs_smtputf8 is True


def test_one_mail_has_one_message_id_however_often_it_is_composed() -> None:
    """Window: a second copy can be recognized as the same mail."""
    what = loaded()

    assert written(what).message_id == written(what).message_id


def test_the_address_for_answers_is_written() -> None:
    assert headers(written(loaded(reply_to="Help <help@example.com>")))["Reply-To"] == (
        "Help <help@example.com>"
    )


@pytest.mark.parametrize(
    "what",
    [
        loaded(from_email="nobody"),
        loaded(email=claimed(recipient_email="nobody@")),
        loaded(reply_to="a@b@c"),
    ],
    ids=["from", "to", "reply_to"],
)
def test_what_can_never_be_a_message_is_said_so(what: LoadedEmail) -> None:
    with pytest.raises(CannotCompose):
        written(what)


def test_only_the_last_contents_are_kept_encoded() -> None:
    skeletons = SkeletonCache(max_count=2)
    first = skeletons.of(content(id=1))
    skeletons.of(content(id=2))

    assert skeletons.of(content(id=1)) is first
    skeletons.of(content(id=3))  # the second goes, not the one just used
    assert skeletons.of(content(id=1)) is first

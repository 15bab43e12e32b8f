"""Each mail has its own return path, if the project has a bounce domain."""

from dataclasses import replace
from uuid import UUID

from mailqueue.core.address import parse_address
from mailqueue.mail.message.build import SkeletonCache, build_message
from mailqueue.mail.model import LoadedEmail
from mailqueue.ports.transport import SendAttempt
from mailqueue.senders.model import MailDefaults
from mailqueue.tracking.returnpath import is_proved, read_return_path
from mailqueue.tracking.tokens import Seals, TrackingKey
from tests.mail.claims import NOW, SENDER, loaded

SEALS = Seals([TrackingKey(5, UUID(int=1), bytes(32))])
IDENTITY = MailDefaults(SENDER, None, parse_address("b@example.com"), "bounces.example.com")


def written(
    what: LoadedEmail, identity: MailDefaults = IDENTITY, *, suppressed: tuple[str, ...] = ()
) -> SendAttempt:
    return build_message(
        what, SkeletonCache(), identity=identity, now=NOW, suppressed=suppressed, returns=SEALS
    )


def way_back(letter: SendAttempt) -> tuple[UUID, int]:
    local, _, domain = letter.envelope.sender.partition("@")
    claimed = read_return_path(local)
    assert domain == "bounces.example.com"
    assert claimed is not None
    assert is_proved(claimed, SEALS)
    return claimed.email_id, claimed.recipient


def test_its_return_path_names_the_mail_and_is_signed() -> None:
    what = loaded()

    assert way_back(written(what)) == (what.claim.id, 0)


def test_of_several_recipients_the_only_one_left_is_named() -> None:
    what = loaded(("cc", "cy@example.org"))

    assert way_back(written(what)) == (what.claim.id, 0)
    assert way_back(written(what, suppressed=("ann@example.org",))) == (what.claim.id, 2)


def test_the_address_bounces_go_to_otherwise_is_not_used_then() -> None:
    without = replace(IDENTITY, bounce_domain=None)

    assert written(loaded(), without).envelope.sender == "b@example.com"


def test_the_message_itself_does_not_show_the_return_path() -> None:
    letter = written(loaded())

    assert letter.envelope.sender.encode() not in letter.message

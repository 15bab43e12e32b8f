"""Variables of a template cannot change the headers of its mail."""

from email import message_from_bytes
from uuid import uuid4

import pytest

from mailqueue.mail.message.build import CannotCompose, SkeletonCache, build_message
from mailqueue.ports.transport import SendAttempt
from mailqueue.rendering.compiled import Compiler
from mailqueue.senders.model import MailDefaults
from mailqueue.templates.cache import CachedVersion
from mailqueue.templates.model import VersionSource
from tests.mail.claims import NOW, SENDER, loaded

SEPARATORS = (
    "\r\n", "\n", "\r", "\r\n ", "\n\n", "\0", "\x0b", "\x0c", "\x1c", "\x1d", "\x85", "\u2028",
    "\u2029", "=?utf-8?q?=0D=0A?=", "=?utf-8?b?DQo=?=", "%0d%0a",
)  # fmt: skip


def written(name: str) -> SendAttempt:
    """Compose a mail of a template with a variable in its subject and both bodies."""
    source = VersionSource(
        uuid4(), "en", "Hi {{ name }}!", "<p>{{ name }}</p>", "{{ name }}", {}, None
    )
    plain = loaded()
    assert plain.content is not None
    what = plain._replace(
        claim=plain.claim._replace(custom_data={"variables": {"name": name}}),
        content=plain.content._replace(
            subject=source.subject,
            html_body=None,
            text_body=None,
            template_version_id=source.version_id,
            template_language="en",
        ),
        template=CachedVersion(Compiler(), source),
    )
    return build_message(what, SkeletonCache(), identity=MailDefaults(SENDER), now=NOW)


EXPECTED = set(message_from_bytes(written("Ann").message).keys())


@pytest.mark.parametrize("separator", SEPARATORS)
def test_no_variable_adds_a_header_or_a_recipient(separator: str) -> None:
    try:
        letter = written(f"Ann{separator}Bcc: eve@example.net{separator}X-Eve: 1")
    except CannotCompose:
        return  # refused is fine: the mail fails, and says why

    head = letter.message.split(b"\r\n\r\n")[0]
    assert set(message_from_bytes(letter.message).keys()) == EXPECTED
    assert letter.envelope.recipients == written("Ann").envelope.recipients
    assert not any(octet < 32 and octet not in b"\r\n\t" for octet in head)
    assert b"\n" not in head.replace(b"\r\n", b"")


def test_a_mail_whose_template_is_gone_fails_and_says_so() -> None:
    plain = loaded()
    assert plain.content is not None
    gone = plain._replace(content=plain.content._replace(template_version_id=uuid4()))

    with pytest.raises(CannotCompose, match="its template was deleted"):
        build_message(gone, SkeletonCache(), identity=MailDefaults(SENDER), now=NOW)

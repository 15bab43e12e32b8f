"""Builds the message and the envelope of a loaded email, and signs it."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from mailqueue.core.address import (
    Address,
    InvalidAddress,
    Mailbox,
    parse_address,
    parse_mailbox,
)
from mailqueue.core.mailboxes import parse_mailboxes
from mailqueue.dkim.signer import Signers
from mailqueue.mail.message.render import rendered
from mailqueue.mail.model import EmailContent, LoadedEmail
from mailqueue.mime.compose import PerMail, compose, message_id
from mailqueue.mime.files import MessageFile
from mailqueue.mime.rawhead import first_field, has_ascii_head
from mailqueue.mime.skeleton import MessageContent, Skeleton, compile_skeleton
from mailqueue.ports.transport import Envelope, SendAttempt
from mailqueue.senders.model import MailDefaults
from mailqueue.tracking.returnpath import return_path
from mailqueue.tracking.tokens import Seals

MAX_SKELETONS = 256
MAX_SKELETON_BYTES = 32 * 1024 * 1024


class CannotCompose(ValueError):
    """The message can never be built; the text says why."""


class NotYet(Exception):
    """The message cannot be built now; the text says what is missing."""


class NotSigned(Exception):
    """The project sends signed mail only, and the domain has no key in force."""


class SkeletonCache:
    """Encoded contents, for emails that share one; the least recently used are dropped."""

    def __init__(self, max_count: int = MAX_SKELETONS, max_bytes: int = MAX_SKELETON_BYTES) -> None:
        self._max_count = max_count
        self._max_bytes = max_bytes
        self._kept: OrderedDict[int, Skeleton] = OrderedDict()
        self._bytes = 0

    def of(self, content: EmailContent, files: tuple[MessageFile, ...] = ()) -> Skeleton:
        """Return the skeleton of a content and its files.

        Raises:
            ValueError: the content cannot become a message.
        """
        found = self._kept.get(content.id)
        if found is not None:
            self._kept.move_to_end(content.id)
            return found
        headers = content.header_fields
        made = compile_skeleton(
            MessageContent(content.subject, content.html_body, content.text_body, headers, files)
        )
        self._kept[content.id] = made
        self._bytes += len(made.mime)
        while len(self._kept) > self._max_count or self._bytes > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.mime)
        return made


def build_message(
    mail: LoadedEmail,
    skeleton_cache: SkeletonCache,
    *,
    identity: MailDefaults,
    now: datetime,
    suppressed: tuple[str, ...] = (),
    signers: Signers | None = None,
    returns: Seals | None = None,
) -> SendAttempt:
    """Build one message. `suppressed` recipients stay in the headers and out of the envelope.

    If the project has a domain for bounces, `returns` signs the return path.

    Raises:
        CannotCompose: it can never be built; the message names the field.
        NotYet: one of its files is unavailable.
        NotSigned: it must be signed, and no key of its domain is in force.
    """
    email, content = mail.claim, mail.content
    if mail.fault is not None:
        raise (CannotCompose if mail.fault.is_lasting else NotYet)(mail.fault.reason)
    if content is None:
        raise CannotCompose("its content was deleted")
    try:
        found = _addresses(mail, content, identity, suppressed)
        message, mail_id = _composed(mail, content, found, now, skeleton_cache)
    except ValueError as exc:
        raise CannotCompose(str(exc)) from exc
    domain = found.sender.address.domain
    if signers is not None and (signer := signers.of(domain)) is not None:
        message = signer.sign(message, int(now.timestamp())) + message
    elif signers is not None and signers.is_required:
        raise NotSigned(
            f"no DKIM key of {domain} is active, and the project sends signed email only"
        )
    given = tuple([spelling for _, spelling in found.envelope])
    bounces = identity.bounce_address or found.sender.address
    if identity.bounce_domain is not None and returns is not None:
        number = _recipient_number(mail, given)
        local = return_path(returns, email_id=email.id, recipient=number, now=now)
        bounces = Address(local, identity.bounce_domain, needs_smtputf8=False)
    needs_smtputf8 = found.needs_smtputf8 or bounces.needs_smtputf8
    if mail.raw is not None:
        needs_smtputf8 = needs_smtputf8 or not has_ascii_head(message)
    has_null_sender = mail.raw is not None and mail.raw.has_null_sender
    return SendAttempt(
        email.id,
        Envelope(
            "" if has_null_sender else bounces.sent,
            tuple([address.sent for address, _ in found.envelope]),
            needs_smtputf8=needs_smtputf8,
        ),
        message,
        email.category,
        mail.tags,
        email.claim_no,
        email.attempts,
        mail_id,
        given,
        bool(mail.recipients),
        suppressed,
    )


def _composed(
    mail: LoadedEmail,
    content: EmailContent,
    found: "_Addresses",
    now: datetime,
    skeleton_cache: SkeletonCache,
) -> tuple[bytes, str]:
    """Return the message, not yet signed, and its Message-ID."""
    if mail.raw is not None:
        return mail.raw.octets, first_field(mail.raw.octets, "message-id")
    if mail.tracked is not None:
        skeleton = mail.tracked.skeleton_with(mail.files)
    elif content.template_version_id is None:
        skeleton = skeleton_cache.of(content, mail.files)
    else:
        skeleton = compile_skeleton(rendered(mail, content.header_fields, mail.files))
    mail_id = message_id(mail.claim.id, found.sender.address.domain)
    headers = PerMail(
        sender=found.sender,
        to=found.to,
        cc=found.cc,
        reply_to=found.reply_to,
        written_at=now,
        message_id=mail_id,
        headers=() if mail.tracked is None else mail.tracked.headers,
    )
    return compose(skeleton, headers), mail_id


def _recipient_number(mail: LoadedEmail, envelope: Sequence[str]) -> int:
    """Return the number of the only recipient left among all of the email; 0 for several."""
    if len(envelope) != 1:
        return 0
    places = (n for n, one in enumerate(mail.recipients, 1) if one.address == envelope[0])
    return next(places, 0)


class _Addresses(NamedTuple):
    """The addresses of one message: in its headers, and of its envelope."""

    sender: Mailbox
    to: list[Mailbox]
    cc: list[Mailbox]
    reply_to: tuple[Mailbox, ...]
    envelope: list[tuple[Address, str]]  # each with its spelling in the database
    needs_smtputf8: bool


def _addresses(
    mail: LoadedEmail, content: EmailContent, identity: MailDefaults, suppressed: tuple[str, ...]
) -> _Addresses:
    """Return the addresses of one message; what the content does not say is the account's.

    Raises:
        ValueError: one of them cannot be read.
    """
    if content.from_email is None:
        name = content.from_name or identity.sender.name
        sender = Mailbox(name, identity.sender.address)
    else:
        sender = Mailbox(content.from_name or "", parse_address(content.from_email))
    to: list[Mailbox] = []
    cc: list[Mailbox] = []
    envelope: dict[str, tuple[Address, str]] = {}
    try:
        if not mail.recipients:  # nearly all emails
            given = mail.claim.recipient_email
            to.append(Mailbox(mail.claim.recipient_name or "", parse_address(given)))
            if given not in suppressed:
                envelope[given] = to[0].address, given
        for one in mail.recipients:
            mailbox = Mailbox(one.name or "", parse_address(one.address))
            if one.kind == "to":
                to.append(mailbox)
            elif one.kind == "cc":
                cc.append(mailbox)
            if one.status == "pending" and one.address not in suppressed:
                envelope.setdefault(mailbox.address.sent, (mailbox.address, one.address))
    except InvalidAddress as exc:
        raise CannotCompose(f"recipient: {exc}") from exc
    if content.header_recipients is not None:
        to, cc = (_named(content.header_recipients, kind) for kind in ("to", "cc"))
    if content.reply_to is not None:
        reply_to = parse_mailboxes(content.reply_to)
    else:
        reply_to = () if identity.reply_to is None else (identity.reply_to,)
    needs_smtputf8 = sender.address.needs_smtputf8
    for address, _ in envelope.values():
        needs_smtputf8 = needs_smtputf8 or address.needs_smtputf8
    for mailbox in (*to, *cc, *reply_to):  # in the headers, and perhaps not in the envelope
        needs_smtputf8 = needs_smtputf8 or mailbox.address.needs_smtputf8
    return _Addresses(sender, to, cc, reply_to, list(envelope.values()), needs_smtputf8)


def _named(named: Mapping[str, list[str]], kind: str) -> list[Mailbox]:
    """Return the mailboxes that a header shows, for one email of a message split into several."""
    texts = named.get(kind, []) if isinstance(named, Mapping) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CannotCompose("its header recipients cannot be read")
    return [parse_mailbox(text) for text in texts]

"""Accept the mails of one request of a compatible API: all of them, or none."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from mailqueue.api.compat import store as compat_store
from mailqueue.api.compat.accepting import OneRefused, Wanted, prepare_emails
from mailqueue.api.http.context import RequestContext
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.schema import AttachedFile, SendRequest
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.acceptance import statements_of
from mailqueue.mail.accept.attachments import NewFile, keep
from mailqueue.mail.accept.enqueue import NewEmail, split
from mailqueue.mail.accept.log_lines import log_emails
from mailqueue.mail.accept.shares import MAX_OF_MAIL

MAX_CHARACTERS = 256 * 1024 * 1024
"""Most characters of all mails of one request, counting shared content for each mail."""


async def accept_together(
    call: RequestContext, requests: Sequence[Wanted], *, is_kept: bool = False
) -> list[Sent]:
    """Accept mails in one transaction, in order; a single mail shares the commit of other requests.

    A mail to many recipients is sent as several, of which the first is returned. All mails of the
    request form a batch whose id is that of the first. `is_kept`: so does a single mail, which is
    accepted in the transaction of the request then.

    Raises:
        OneRefused: nothing is accepted.
    """
    is_alone = not is_kept and len(requests) == 1 and _recipients(requests[0]) <= MAX_OF_MAIL
    await call.in_turn(lambda: _check_size(requests))
    ready = await _ready(call, requests if is_alone else await with_kept_files(call, requests))
    if is_alone:
        try:
            return [await sending_service.accepted(call, ready[0])]
        except InvalidField as exc:
            raise OneRefused(0, exc) from None
    places, emails = await call.in_turn(lambda: _emails(call, ready))
    sent: dict[int, Sent] = {}
    made: list[Sent] = []
    project = call.caller.project
    async with call.connection() as conn:
        for group in statements_of(zip(places, emails, strict=True)):
            results = await sending_service.accepted_all(
                conn, [email for _, email in group], project=project
            )
            for (place, _), result in zip(group, results, strict=True):
                if isinstance(result, InvalidField):
                    raise OneRefused(place, result)
                sent.setdefault(place, result)
                made.append(result)
        owner, subject = call.caller.project_id, emails[0].subject
        ids = [one.id for one in made]
        await compat_store.keep_batch(conn, owner, ids, subject=subject, by=call.by)
    call.name_after(made[0].id)
    call.once_committed(partial(log_emails, project, emails, made))
    return list(sent.values())


async def validate_together(call: RequestContext, requests: Sequence[Wanted]) -> None:
    """Validate mails completely, without storing or sending any.

    Raises:
        OneRefused: one of them would be refused.
    """
    await call.in_turn(lambda: _check_size(requests))
    first, *others = await _ready(call, requests)

    def emails_of() -> tuple[list[int], list[NewEmail]]:
        # All carry the same files: they are validated once.
        bare = [one.model_copy(update={"attachments": []}) for one in others]
        return _emails(call, [first, *bare])

    places, emails = await call.in_turn(emails_of)
    async with call.connection() as conn:
        await _try(conn, places, emails, project=call.caller.project)


def _recipients(one: Wanted) -> int:
    return len(one.to) + len(one.cc) + len(one.bcc)


def _check_size(requests: Sequence[Wanted]) -> None:
    budget = Budget(MAX_CHARACTERS)
    for index, one in enumerate(requests):
        if isinstance(one, SendRequest):
            mails = -(-_recipients(one) // MAX_OF_MAIL)
            try:
                size = len(one.html_body or "") + len(one.text_body or "")
                budget.take(size * mails, "html_body")
            except InvalidField as exc:
                raise OneRefused(index, exc) from None


async def _try(
    conn: Conn, places: Sequence[int], emails: Sequence[NewEmail], *, project: str
) -> None:
    for group in statements_of(zip(places, emails, strict=True)):
        results = await sending_service.accepted_all(
            conn, [email for _, email in group], project=project, is_trial=True
        )
        for (place, _), result in zip(group, results, strict=True):
            if isinstance(result, InvalidField):
                raise OneRefused(place, result)


async def _ready(call: RequestContext, requests: Sequence[Wanted]) -> list[Wanted]:
    ready: list[Wanted] = []
    for index, one in enumerate(await prepare_emails(call, requests)):
        if isinstance(one, InvalidField):
            raise OneRefused(index, one)
        ready.append(one)
    return ready


def _emails(call: RequestContext, ready: Sequence[Wanted]) -> tuple[list[int], list[NewEmail]]:
    """Return the mails to accept, and for each the index of the requested mail it comes from."""
    places: list[int] = []
    emails: list[NewEmail] = []
    for index, one in enumerate(ready):
        try:
            some = split(sending_service.new_email(call.caller, one, call.traceparent))
        except InvalidField as exc:
            raise OneRefused(index, exc) from None
        places += [index] * len(some)
        emails += some
    return places, emails


async def with_kept_files(call: RequestContext, requests: Sequence[Wanted]) -> list[Wanted]:
    """Return the mails, which have the same files, with each file stored once and referred to by
    its id.

    Raises:
        OneRefused: the project does not allow a file.
    """
    files = requests[0].attachments
    if all(one.id is not None for one in files):
        return list(requests)
    kept = []
    try:
        for one in files:
            kept.append(await _kept(call, one))
    except InvalidField as exc:
        raise OneRefused(0, sending_service.renamed(exc)) from None
    return [one.model_copy(update={"attachments": kept}) for one in requests]


async def _kept(call: RequestContext, file: AttachedFile) -> AttachedFile:
    kind, octets = (file.content_type or "").strip().lower(), decode_base64(file.content or "")
    found = await keep(
        call.connection,
        call.services.storage,
        project_id=call.caller.project_id,
        file=NewFile(file.filename, kind, octets),
    )
    return AttachedFile(id=str(found.id), filename=file.filename, content_id=file.content_id)


def decode_base64(content: str) -> bytes:
    """Return the bytes of base64 text, which may have line breaks.

    Raises:
        InvalidField: it is not base64.
    """
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidField("attachments", "the content is not base64") from None


@dataclass(slots=True)
class Budget:
    """Limit of the characters that a request may expand to, over all its mails."""

    left: int

    def take(self, characters: int, field: str) -> None:
        """Count characters.

        Raises:
            InvalidField: the limit is exceeded.
        """
        self.left -= characters
        if self.left < 0:
            raise InvalidField(field, "the emails of the request are too large together")

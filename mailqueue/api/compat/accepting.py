"""Accept the mail of compatible APIs by the rules of POST /v1/send."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.override import given_override
from mailqueue.api.sending.prepare import store_files
from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.api.sending.templates import chosen_for
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import InputError, InvalidField, NotFound
from mailqueue.mail.accept.acceptance import AcceptResult, statements_of
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.accept.log_lines import log_emails
from mailqueue.templates import versions, writing
from mailqueue.templates.accepting import ChosenVersion

Wanted = SendRequest | TemplateRequest


class CompatTemplateRequest(TemplateRequest):
    """A mail from a template, with the options of compatible APIs.

    With a `subject` of its own it is rendered now, not when it is sent. `inline_css` overrides
    whether the template's style sheets are inlined; None keeps the template's setting.
    """

    subject: str | None = None
    inline_css: bool | None = None


class OneRefused(InputError):
    """One of several mails was refused, so nothing was accepted; `index` counts from 0."""

    def __init__(self, index: int, fault: InvalidField) -> None:
        self.index = index
        self.fault = fault
        super().__init__(f"{index}: {fault}")


async def prepare_email(call: RequestContext, request: Wanted) -> Wanted:
    """Return a mail with its template resolved and its large files stored.

    Raises:
        InvalidField: there is no such template, or its variables or a file are invalid.
    """
    (ready,) = await prepare_emails(call, [request])
    if isinstance(ready, InvalidField):
        raise ready
    return ready


async def prepare_emails(
    call: RequestContext, requests: Sequence[Wanted | InvalidField]
) -> list[Wanted | InvalidField]:
    """Return mails as `prepare_email` does; a refused mail does not affect the others."""
    templates = _Templates(call)
    ready: list[Wanted | InvalidField] = []
    for one in requests:
        try:
            match one:
                case InvalidField():
                    ready.append(one)
                case TemplateRequest():
                    looked_at = await templates.looked_at(one)
                    ready.append(await _shelved(call, looked_at))
                case SendRequest():
                    ready.append(await store_files(call, one))
        except InvalidField as exc:
            ready.append(exc)
    return ready


async def _shelved(call: RequestContext, request: Wanted) -> Wanted:
    if isinstance(request, SendRequest):
        return await store_files(call, request)
    return await store_files(call, request)


class _Templates:
    """The templates of the mails of one request, each looked up once."""

    def __init__(self, call: RequestContext) -> None:
        self._call = call
        self._known: dict[tuple[str, str | None], ChosenVersion | InvalidField] = {}
        self._slugs: dict[str, str] = {}
        self._styled: dict[UUID, bool] = {}

    async def looked_at(self, request: TemplateRequest) -> Wanted:
        """Return a mail with its template's slug and validated variables."""
        request = request.model_copy(
            update={"template_slug": await self._slug(request.template_slug)}
        )
        named = (request.template, request.language)
        if named not in self._known:
            try:
                self._known[named] = await chosen_for(self._call, *named)
            except InvalidField as exc:
                self._known[named] = exc
        chosen = self._known[named]
        if isinstance(chosen, InvalidField):
            raise chosen
        await self._call.services.turns.share()
        chosen.check(request.variables)
        if not isinstance(request, CompatTemplateRequest):
            return request
        if request.inline_css is not None:
            await self._check_css(chosen, request.inline_css)
        if request.subject is None:
            return request
        return given_override(chosen, request).model_copy(update={"subject": request.subject})

    async def _check_css(self, chosen: ChosenVersion, is_wanted: bool) -> None:
        version = chosen.version
        if is_wanted == version.is_css_inlined:
            return
        if version.id not in self._styled:
            async with self._call.connection() as conn:
                texts = await versions.texts_of(conn, version)
            self._styled[version.id] = any("<style" in (one.html_body or "") for one in texts)
        if self._styled[version.id]:
            how = "with" if is_wanted else "without"
            why = f'"{chosen.template.slug}" has to be published {how} inline_css'
            raise InvalidField("inline_css", why)

    async def _slug(self, name_or_id: str) -> str:
        """Return the slug of a template that is named by slug or id."""
        if name_or_id in self._slugs:
            return self._slugs[name_or_id]
        found = name_or_id
        try:
            template_id = UUID(name_or_id)
            async with self._call.connection() as conn:
                project_id = self._call.caller.project_id
                found = (await writing.find(conn, project_id, template_id=template_id)).slug
        except NotFound:
            why = f'there is no template "{name_or_id[:100]}"'
            raise InvalidField("template_slug", why) from None
        except ValueError:
            pass  # not an id
        self._slugs[name_or_id] = found
        return found


async def accept_in_transaction(call: RequestContext, request: Wanted) -> Sent:
    """Accept one mail in the transaction of the request, which has an idempotency key.

    Raises:
        InvalidField: the mail is refused.
    """
    (judged,) = await accept_all(call, [request], is_strict=False)
    if isinstance(judged, InvalidField):
        raise judged
    return judged


async def accept_all(
    call: RequestContext, requests: Sequence[Wanted | InvalidField], *, is_strict: bool
) -> list[AcceptResult]:
    """Accept mails in one transaction, in order; those refused already stay refused.

    Raises:
        OneRefused: with `is_strict`, one mail was refused; nothing is accepted.
    """
    judged: dict[int, AcceptResult] = {}
    emails: dict[int, NewEmail] = {}
    for index, one in enumerate(requests):
        try:
            if isinstance(one, InvalidField):
                raise one
            emails[index] = sending_service.new_email(call.caller, one, call.traceparent)
        except InvalidField as exc:
            if is_strict:
                raise OneRefused(index, exc) from None
            judged[index] = exc
    if emails:
        async with call.connection() as conn:
            for group in statements_of(emails.items()):
                found = await sending_service.accepted_all(
                    conn, [email for _, email in group], project=call.caller.project
                )
                for (index, _), result in zip(group, found, strict=True):
                    if is_strict and isinstance(result, InvalidField):
                        raise OneRefused(index, result)
                    judged[index] = result
    mails = list(emails.values())
    results = [judged[index] for index in emails]
    call.once_committed(partial(log_emails, call.caller.project, mails, results))
    made = next((one.id for one in judged.values() if isinstance(one, Sent)), None)
    if made is not None:
        call.name_after(made)
    return [judged[index] for index in range(len(requests))]

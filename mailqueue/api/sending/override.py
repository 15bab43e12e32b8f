"""Mail sent by a server that the caller names: at once, or queued with the server."""

from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from pydantic import SecretStr
from starlette.responses import Response

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.schema import SendRequest, SmtpOverride, TemplateRequest
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.secret import Secret
from mailqueue.mail.accept.acceptance import AcceptedBatch, find_repeated
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.accept.log_lines import log_emails
from mailqueue.mail.custom_smtp.queued import queue_batch_for, queue_for
from mailqueue.mail.custom_smtp.send_now import send_now
from mailqueue.mail.message.preview import fetched
from mailqueue.mail.model import NewBatch
from mailqueue.mail.reads import emails
from mailqueue.senders.custom_smtp import FIELD, CustomSmtpServer, custom_smtp_server
from mailqueue.senders.model import Tls
from mailqueue.templates.accepting import ChosenVersion
from mailqueue.vault.masterkey import master_key_of

_TLS_BY_MODE = MappingProxyType(
    {
        "starttls": Tls.STARTTLS,
        "implicit": Tls.IMPLICIT,
        "tls": Tls.IMPLICIT,
        "ssl": Tls.IMPLICIT,
        "none": Tls.NONE,
        "plain": Tls.NONE,
    }
)
_FIELD_BY_NAME = MappingProxyType(
    {f"{FIELD}.tls": f"{FIELD}.tls_mode", f"{FIELD}.smtp_tls": f"{FIELD}.tls_mode"}
)


async def sent_by_override(
    call: RequestContext,
    request: SendRequest | TemplateRequest,
    override: SmtpOverride,
    chosen: ChosenVersion | None,
) -> Response:
    """Send an email and return its result, or queue it with its server.

    `chosen` is the template of an email that has one: it is rendered at once.

    Raises:
        InvalidField: nothing is sent.
        Conflict: the project may not use custom SMTP servers.
        LimitReached: it has no headroom.
    """
    if call.caller.is_test:
        raise InvalidField(FIELD, "a test key sends to the trap only")
    server = server_of(override)
    try:
        if override.queue:
            queued = await _queued(
                call, sending_service.new_email(call.caller, request, call.traceparent), server
            )
            return json_answer(queued, status=HTTPStatus.ACCEPTED)
        said = request if isinstance(request, SendRequest) else given_override(chosen, request)
        return json_answer(
            await _sent_now(
                call, sending_service.new_email(call.caller, said, call.traceparent), server
            )
        )
    except InvalidField as exc:
        raise sending_service.renamed(exc) from None


async def _queued(call: RequestContext, email: NewEmail, server: CustomSmtpServer) -> Sent:
    master = master_key_of(call.settings)
    async with call.connection() as conn:
        done = await queue_for(conn, email, server, caller=call.caller, master=master)
        if done.status == "duplicate":
            before = await find_repeated(conn, done.id)
            return Sent(before.id, before.status, before.reason)
    return _logged(call, email, Sent(done.id, done.status, done.reason))


async def batch_by_override(
    call: RequestContext, batch: NewBatch, override: SmtpOverride, *, is_strict: bool
) -> AcceptedBatch:
    """Queue a batch with the server that sends its emails.

    Raises:
        InvalidField: nothing is stored.
        RecipientsRefused: the batch is strict, and recipients are refused; nothing is stored.
        Conflict: there is no master key.
    """
    if call.caller.is_test:
        raise InvalidField(FIELD, "a test key sends to the trap only")
    server = server_of(override)
    master = master_key_of(call.settings)
    async with call.connection() as conn:
        return await queue_batch_for(
            conn,
            batch,
            server,
            caller=call.caller,
            master=master,
            is_strict=is_strict,
            by=call.by,
        )


async def _sent_now(call: RequestContext, email: NewEmail, server: CustomSmtpServer) -> Sent:
    """Return the response for an email that was sent, failed, suppressed or held as unknown."""
    lend = call.runtime.borrow
    fetch = partial(fetched, lend, call.services.storage, project_id=call.caller.project_id)
    done = await send_now(
        lend,
        email,
        project=call.caller.project,
        transport=call.services.transport_of(server),
        hidden=server.hidden,
        fetch=fetch,
        tracking=call.services.tracking,
    )
    if done.status != "duplicate":
        return _logged(call, email, Sent(done.id, done.status, done.reason))
    try:
        async with call.connection() as conn:
            before = await emails.find_state(conn, done.id, project_id=call.caller.project_id)
    except NotFound:
        return Sent(done.id, done.status, None)
    return Sent(done.id, before.status, before.reason)


def _logged(call: RequestContext, email: NewEmail, sent: Sent) -> Sent:
    call.once_committed(partial(log_emails, call.caller.project, [email], [sent]))
    return sent


def given_override(chosen: ChosenVersion | None, request: TemplateRequest) -> SendRequest:
    """Return an email from a template with its content rendered.

    Raises:
        InvalidField: it cannot be rendered with these variables.
    """
    assert chosen is not None, "an email from a template has one"
    said = chosen.render(request.variables)
    given: dict[str, Any] = {
        name: getattr(request, name) for name in TemplateRequest.model_fields if name not in _NAMES
    }
    given["category"] = request.category or chosen.template.category
    given |= {"subject": said.subject, "html_body": said.html, "text_body": said.text}
    return SendRequest.model_construct(**given)


_NAMES = frozenset({"template_slug", "template_version", "language", "variables"})


def server_of(override: SmtpOverride) -> CustomSmtpServer:
    """Return the server, after the checks of stored accounts.

    Raises:
        InvalidField: the field is named smtp_override.host and so on; the text repeats no secret.
    """
    try:
        return custom_smtp_server(
            host=override.host,
            port=override.port,
            tls=_TLS_BY_MODE[override.tls_mode],
            username=_secret(override.username),
            password=_secret(override.password),
        )
    except InvalidField as exc:
        raise exc.named(_FIELD_BY_NAME.get(exc.field, exc.field)) from None


def _secret(value: SecretStr | None) -> Secret | None:
    return None if value is None else Secret(value.get_secret_value())

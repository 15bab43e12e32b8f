"""Requests of Twilio: what became of messages, what persons reply, and codes that they send."""

from collections.abc import Sequence
from html import escape
from http import HTTPStatus
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.adapters.channels.twilio.requests import (
    MAX_BYTES,
    FormFields,
    PersonReply,
    fields_of,
    is_signed,
    reply_of,
    report_of,
)
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import error_answer
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.inbound import RETRY_SECONDS, body_of
from mailqueue.core.errors import Conflict, InvalidField, Locked, NotFound, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import PhoneSender
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import registering, whatsapp
from mailqueue.watch.delivering import CALLBACKS
from mailqueue.watch.whatsapp import ReportingChannel

SIGNATURE = "x-twilio-signature"
_NOTHING_TO_SAY = '<?xml version="1.0" encoding="UTF-8"?><Response/>'
_SAYS = '<?xml version="1.0" encoding="UTF-8"?><Response><Message>{}</Message></Response>'
_CONNECTED = "You are notified here of new mail from now on. Answer STOP to end this."
_OVER = "This code was used, or is over. Begin again on your page."
_NOT_NOW = "Your phone cannot be connected now. Begin again on your page later."
_log = get_logger(__name__)


def whatsapp_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the routes that Twilio calls: for messages of persons, and about each of ours."""
    webhook = _TwilioWebhook(runtime)
    return [
        Route(registering.PATH, webhook.message, methods=["POST"]),
        Route(f"{CALLBACKS}/{{project_id}}", webhook.reply, methods=["POST"]),
        Route(f"{CALLBACKS}/{{project_id}}/{{notification_id}}", webhook.report, methods=["POST"]),
    ]


class _TwilioWebhook:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def message(self, request: Request) -> Response:
        """Connect the phone that sends a code, or record a reply to the installation's sender."""
        sender = self._runtime.services.phone_sender
        fields = fields_of(await body_of(request, MAX_BYTES))
        reply = None if fields is None else reply_of(fields)
        if fields is None or reply is None or sender is None:
            return _refused(request)
        is_ours = (reply.account, reply.sender) == (sender.twilio_sid, sender.sender_number)
        if not is_ours or not self._is_signed(request, fields, sender.auth_token):
            return _refused(request)
        said = await self._register(reply, sender)
        async with self._runtime.borrow() as conn:
            results = await registering.record(
                conn,
                account=reply.account,
                sender=reply.sender,
                number=reply.number,
                message=reply.message,
                is_out=reply.is_out,
                word=reply.word,
            )
        _log.info("whatsapp.received", channels=len(results), results=sorted(set(results)))
        return _taken(said)

    async def _register(self, reply: PersonReply, sender: PhoneSender) -> str | None:
        """Connect the phone if it sent a code; return what the person is answered."""
        if reply.word is not None or not registering.has_code(reply.text):
            return None
        try:
            async with self._runtime.borrow() as conn:
                found = await registering.end(
                    conn,
                    reply.text,
                    reply.number,
                    sender=sender,
                    master=master_key_of(self._runtime.settings),
                )
        except (Conflict, InvalidField, Locked) as exc:
            _log.warning("whatsapp.not_connected", why=str(exc))
            return _NOT_NOW
        if found is None:
            return _OVER
        _log.info("whatsapp.connected", channel=str(found))
        return _CONNECTED

    async def reply(self, request: Request) -> Response:
        """Record a reply of a person; 200 once it is durable."""
        project_id = _id_of(request, "project_id")
        fields = fields_of(await body_of(request, MAX_BYTES))
        reply = None if fields is None else reply_of(fields)
        if fields is None or reply is None:
            return _refused(request)
        try:
            async with self._runtime.borrow() as conn:
                found = await whatsapp.replied_to(
                    conn,
                    project_id,
                    account=reply.account,
                    sender=reply.sender,
                    number=reply.number,
                    master=master_key_of(self._runtime.settings),
                )
                signed = self._signed(request, fields, found)
                for one in signed:
                    result = await whatsapp.record_reply(
                        conn, one.id, reply.message, is_out=reply.is_out, word=reply.word
                    )
                    _log.info("whatsapp.replied", channel=str(one.id), result=result)
        except (Unavailable, Locked):
            return _unavailable(request)
        return _taken() if signed else _refused(request)

    async def report(self, request: Request) -> Response:
        """Record what became of a message; 200 once it is durable."""
        project_id = _id_of(request, "project_id")
        notification_id = _id_of(request, "notification_id")
        fields = fields_of(await body_of(request, MAX_BYTES))
        if fields is None:
            return _refused(request)
        report = report_of(fields)
        try:
            async with self._runtime.borrow() as conn:
                found = await whatsapp.reported_on(
                    conn,
                    project_id,
                    notification_id,
                    master=master_key_of(self._runtime.settings),
                )
                signed = self._signed(request, fields, found)
                if report is not None:
                    for one in signed:
                        await whatsapp.record_report(conn, one.id, notification_id, report)
        except (Unavailable, Locked):
            return _unavailable(request)
        return _taken() if signed else _refused(request)

    def _signed(
        self, request: Request, fields: FormFields, found: Sequence[ReportingChannel]
    ) -> Sequence[ReportingChannel]:
        """Return the channels whose account signed the request."""
        return [one for one in found if self._is_signed(request, fields, one.token)]

    def _is_signed(self, request: Request, fields: FormFields, token: Secret) -> bool:
        """Return whether the owner of a token signed the request."""
        origin = origin_of(request.scope, self._runtime.settings.tracking.public_url)
        query = request.scope["query_string"].decode("latin-1")
        url = f"{origin.rstrip('/')}{request.scope['path']}" + (f"?{query}" if query else "")
        return is_signed(request.headers.get(SIGNATURE, ""), url, fields, token)


def _id_of(request: Request, name: str) -> UUID:
    try:
        return UUID(request.path_params[name])
    except ValueError as exc:
        raise NotFound("webhook", "whatsapp") from exc


def _taken(said: str | None = None) -> Response:
    answer = _NOTHING_TO_SAY if said is None else _SAYS.format(escape(said))
    return Response(answer, media_type="text/xml")


def _refused(request: Request) -> Response:
    # One answer to unknown ids, other accounts and wrong signatures: it tells a forger nothing.
    return error_answer(
        request.scope,
        HTTPStatus.UNAUTHORIZED,
        "unauthorized",
        "the request could not be verified",
    )


def _unavailable(request: Request) -> Response:
    return error_answer(
        request.scope,
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "not available now; send it again",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )

"""Requests of Twilio: what became of messages, and what persons reply."""

from collections.abc import Sequence
from http import HTTPStatus
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.adapters.channels.twilio.requests import (
    MAX_BYTES,
    FormFields,
    fields_of,
    is_signed,
    reply_of,
    report_of,
)
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import error_answer
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.inbound import RETRY_SECONDS, body_of
from mailqueue.core.errors import Locked, NotFound, Unavailable
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import whatsapp
from mailqueue.watch.delivering import CALLBACKS
from mailqueue.watch.whatsapp import ReportingChannel

SIGNATURE = "x-twilio-signature"
_NOTHING_TO_SAY = b'<?xml version="1.0" encoding="UTF-8"?><Response/>'
_log = get_logger(__name__)


def whatsapp_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the routes that Twilio calls: for replies of persons, and about each message."""
    webhook = _TwilioWebhook(runtime)
    return [
        Route(f"{CALLBACKS}/{{project_id}}", webhook.reply, methods=["POST"]),
        Route(f"{CALLBACKS}/{{project_id}}/{{notification_id}}", webhook.report, methods=["POST"]),
    ]


class _TwilioWebhook:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

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
        origin = origin_of(request.scope, self._runtime.settings.tracking.public_url)
        query = request.scope["query_string"].decode("latin-1")
        url = f"{origin.rstrip('/')}{request.scope['path']}" + (f"?{query}" if query else "")
        given = request.headers.get(SIGNATURE, "")
        return [one for one in found if is_signed(given, url, fields, one.token)]


def _id_of(request: Request, name: str) -> UUID:
    try:
        return UUID(request.path_params[name])
    except ValueError as exc:
        raise NotFound("webhook", "whatsapp") from exc


def _taken() -> Response:
    return Response(_NOTHING_TO_SAY, media_type="text/xml")


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

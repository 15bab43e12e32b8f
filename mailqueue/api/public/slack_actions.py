"""`/channels/slack/actions`: what Slack sends when a person presses a button."""

import time
from functools import partial
from http import HTTPStatus

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.adapters.channels.slack.interactions import MAX_BYTES, is_signed, press_of
from mailqueue.api.http.responses import error_answer
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.inbound import RETRY_SECONDS, body_of
from mailqueue.core.errors import Locked, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import ButtonPress
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import buttons
from mailqueue.watch.buttons import PressResult

_log = get_logger(__name__)


def slack_action_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the route that Slack sends presses of buttons to."""
    return [Route(buttons.PATH, _Actions(runtime).respond, methods=["POST"])]


class _Actions:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def respond(self, request: Request) -> Response:
        """Do what the button says; 200 once it is durable. The person is answered afterwards."""
        body = await body_of(request, MAX_BYTES)
        is_of = partial(_is_signed, request, body)
        app_secret = self._runtime.settings.channels.app_signing_secret
        is_of_app = app_secret is not None and is_of(app_secret)
        press = press_of(body)
        if press is None:
            return Response() if is_of_app else _refused(request)
        try:
            async with self._runtime.borrow() as conn:
                channel_id = await buttons.channel_of(
                    conn,
                    press,
                    app_secret=app_secret,
                    is_signed=is_of,
                    master=master_key_of(self._runtime.settings),
                )
                if channel_id is None:  # of a notification that is no longer there, perhaps
                    return Response() if is_of_app else _refused(request)
                done = await buttons.press(conn, channel_id, press)
        except (Unavailable, Locked):
            return _unavailable(request)
        _log.info("slack.pressed", channel=str(channel_id), result=done.word)
        if done.word == "refused":
            return error_answer(
                request.scope,
                HTTPStatus.FORBIDDEN,
                "forbidden",
                "the button is not of this person or channel",
            )
        return Response(background=self._reply(press, done))

    def _reply(self, press: ButtonPress, done: PressResult) -> BackgroundTask | None:
        replies = self._runtime.services.slack_replies
        if replies is None or press.reply_url is None or done.text is None:
            return None
        return BackgroundTask(replies.reply, press.reply_url, done.text)


def _is_signed(request: Request, body: bytes, secret: Secret) -> bool:
    return is_signed(secret, request.headers, body, now=time.time())


def _refused(request: Request) -> Response:
    # One answer to unknown ids, other apps and wrong signatures: it tells a forger nothing.
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

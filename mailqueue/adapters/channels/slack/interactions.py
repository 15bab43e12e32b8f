"""Requests of Slack that a button was pressed: their signature, what they say, and answers.

Follows docs.slack.dev/authentication/verifying-requests-from-slack and
/reference/interaction-payloads/block_actions-payload, read in November 2026.
"""

import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import orjson

from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import ButtonPress
from mailqueue.ports.webhook import Poster
from mailqueue.telemetry.log import get_logger

MAX_BYTES = 256 * 1024
"""Bytes of a request, which has the whole message with it."""
MAX_AGE_SECONDS = 300
REPLY_HOST = "hooks.slack.com"
_ID = re.compile(r"[A-Z][A-Z0-9]{1,30}")
_STAMP = re.compile(r"[0-9]{1,11}\.[0-9]{1,9}")
_ACTION = re.compile(r"[a-z_]{1,40}")
_SECONDS = re.compile(r"[0-9]{1,11}")
_log = get_logger(__name__)


def is_signed(secret: Secret, headers: Mapping[str, str], body: bytes, *, now: float) -> bool:
    """Return whether a request has the signature v0 of a secret, made within five minutes. Pure."""
    stamp = headers.get("x-slack-request-timestamp", "")
    given = headers.get("x-slack-signature", "")
    if not _SECONDS.fullmatch(stamp) or abs(now - int(stamp)) > MAX_AGE_SECONDS:
        return False
    signed = b"v0:" + stamp.encode() + b":" + body
    wanted = "v0=" + hmac.digest(secret.reveal().encode(), signed, "sha256").hex()
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def press_of(body: bytes) -> ButtonPress | None:
    """Return the button of a notification that a request is about; None: none of ours. Pure."""
    try:
        fields = parse_qsl(body.decode("ascii"), strict_parsing=True, max_num_fields=10)
        payload = orjson.loads(dict(fields).get("payload", ""))
        action = payload["actions"][0]
        stamp = action["action_ts"]
        reference = UUID(action["value"])
        name, person = action["action_id"], payload["user"]["id"]
        if payload["type"] != "block_actions" or not _STAMP.fullmatch(stamp):
            return None
        at = datetime.fromtimestamp(float(stamp), UTC)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, OSError):
        return None
    if not isinstance(name, str) or not isinstance(person, str) or not _ID.fullmatch(person):
        return None
    container = payload.get("container")
    return ButtonPress(
        name if _ACTION.fullmatch(name) else "",
        reference,
        _text(payload.get("team"), "id", _ID),
        person,
        _text(container, "channel_id", _ID) or _text(payload.get("channel"), "id", _ID),
        _text(container, "message_ts", _STAMP) or _text(payload.get("message"), "ts", _STAMP),
        at,
        _url(payload),
    )


class SlackReplies:
    """See `ports.channel.ReplyPoster`. Answers go to Slack alone."""

    def __init__(self, poster: Poster, *, other_origin: str | None = None) -> None:
        """Prepare; `other_origin` stands for Slack in tests."""
        self._poster = poster
        self._other = urlsplit(other_origin)[:2] if other_origin else None

    async def reply(self, url: str, text: str) -> None:
        """Show a text to the person alone."""
        parts = urlsplit(url)
        if parts[:2] not in (("https", REPLY_HOST), self._other):
            return
        body = {"response_type": "ephemeral", "replace_original": False, "text": text}
        headers = (("content-type", "application/json; charset=utf-8"),)
        posted = await self._poster.post(url, headers, write_json(body))
        if posted.status != 200:
            _log.warning("slack.not_answered", status=posted.status)


def _text(value: object, name: str, pattern: re.Pattern[str]) -> str | None:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) and pattern.fullmatch(found) else None


def _url(payload: dict[str, Any]) -> str | None:
    found = payload.get("response_url")
    if not isinstance(found, str) or len(found) > 1000 or not found.isascii():
        return None
    try:
        return found if urlsplit(found).scheme in ("http", "https") else None
    except ValueError:
        return None

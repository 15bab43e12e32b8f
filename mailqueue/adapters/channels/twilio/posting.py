"""Messages to WhatsApp. https://www.twilio.com/docs/messaging/api/message-resource"""

import base64
import re
from datetime import timedelta
from urllib.parse import urlencode

import orjson

from mailqueue.adapters.channels.twilio.errors import MEANING_BY_CODE, reason_of
from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import ChannelAddress, ChannelAnswer, ChannelMessage, PostResult
from mailqueue.ports.webhook import Posted, Poster

API_URL = "https://api.twilio.com"
MAX_TEXT_CHARACTERS = 1600
MAX_VARIABLE_CHARACTERS = 200
DEFAULT_WAIT = timedelta(seconds=30)
"""Wait after a rate limit without Retry-After."""
NO_SUBJECT = "(no subject)"
_SPACES = re.compile(r"\s+")


class WhatsAppChannel:
    """See `ports.channel.ChannelPoster`."""

    def __init__(self, poster: Poster, *, api_url: str = API_URL) -> None:
        """Prepare; `poster` must send each request once."""
        self._poster = poster
        self._url = f"{api_url.rstrip('/')}/2010-04-01/Accounts"

    async def post(
        self, token: Secret, address: ChannelAddress, message: ChannelMessage
    ) -> ChannelAnswer:
        """Send free text where the person has replied lately, else the template, once."""
        pair = base64.b64encode(f"{address.account}:{token.reveal()}".encode())
        headers = (
            ("authorization", f"Basic {pair.decode()}"),
            ("content-type", "application/x-www-form-urlencoded"),
        )
        fields = {
            "To": f"whatsapp:{address.to}",
            "From": f"whatsapp:{address.sender}",
            **content_of(address, message),
        }
        if address.callback is not None:
            fields["StatusCallback"] = address.callback
        url = f"{self._url}/{address.account}/Messages.json"
        return answer_of(await self._poster.post(url, headers, urlencode(fields).encode()))

    def close(self) -> None:
        """Release everything."""
        self._poster.close()


def content_of(address: ChannelAddress, message: ChannelMessage) -> dict[str, str]:
    """Return the fields with what a message says. Pure."""
    if address.is_open:
        return {"Body": text_of(message)}
    variables = {
        "1": _variable(message.inbox),
        "2": _variable(message.sender) or "-",
        "3": _variable(message.title) or NO_SUBJECT,
    }
    return {"ContentSid": address.template, "ContentVariables": write_json(variables).decode()}


def text_of(message: ChannelMessage) -> str:
    """Return a message as text. Pure."""
    lines = [message.title.strip() or NO_SUBJECT, message.sender, message.preview]
    lines += [f"• {one.subject.strip() or NO_SUBJECT} {one.sender}" for one in message.lines]
    if message.mails > len(message.lines) and message.lines:
        lines.append(f"and {message.mails - len(message.lines)} more")
    lines += [message.inbox, message.link or ""]
    lines = [" ".join(one.split())[:300] if one != message.link else one for one in lines]
    shown = [one for one in lines if one]
    while sum(map(len, shown)) + len(shown) > MAX_TEXT_CHARACTERS:
        shown = shown[:-1]
    return "\n".join(shown)


def answer_of(posted: Posted) -> ChannelAnswer:
    """Return what became of a request. Pure."""
    if posted.status is None:
        result = PostResult.UNKNOWN if posted.was_sent else PostResult.FAILED
        return ChannelAnswer(result, reason=f"Twilio: {posted.why}")
    document = _document_of(posted.body)
    if 200 <= posted.status < 300:
        return _taken(document, posted.status)
    code = _code_of(document.get("code"))
    result = _meaning_of(posted.status, code)
    wait = (posted.retry_after or DEFAULT_WAIT) if result is PostResult.WAIT else None
    reason = reason_of(code) if code is not None else f"Twilio answered {posted.status}"
    return ChannelAnswer(result, reason=reason, wait=wait)


def _taken(document: dict[str, object], status: int) -> ChannelAnswer:
    message = document.get("sid")
    if not isinstance(message, str) or not message:
        why = f"Twilio answered {status} without the id of a message, and may have sent it"
        return ChannelAnswer(PostResult.UNKNOWN, reason=why)
    if document.get("status") in {"failed", "undelivered"}:
        code = _code_of(document.get("error_code"))
        return ChannelAnswer(_meaning_of(400, code), message[:128], reason_of(code))
    return ChannelAnswer(PostResult.SENT, external_id=message[:128])


def _meaning_of(status: int, code: int | None) -> PostResult:
    known = MEANING_BY_CODE.get(code or 0)
    if status == 429:
        return PostResult.WAIT
    if known is not None:
        return known
    if status in {401, 403, 404}:
        return PostResult.CHANNEL
    if status == 503:
        return PostResult.FAILED
    return PostResult.UNKNOWN if status >= 500 else PostResult.REFUSED


def _document_of(body: bytes) -> dict[str, object]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _code_of(value: object) -> int | None:
    return value if isinstance(value, int) and 0 < value < 1_000_000 else None


def _variable(text: str) -> str:
    """Return a text as a template takes it: in one line, without runs of spaces."""
    return _SPACES.sub(" ", text).strip()[:MAX_VARIABLE_CHARACTERS]

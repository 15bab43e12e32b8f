"""Slack: chat.postMessage with blocks. https://docs.slack.dev/reference/methods/chat.postMessage"""

from datetime import timedelta
from typing import Any

import orjson

from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import (
    ChannelAction,
    ChannelAddress,
    ChannelAnswer,
    ChannelMessage,
    PostResult,
)
from mailqueue.ports.webhook import Posted, Poster

API_URL = "https://slack.com/api"
MAX_TITLE_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 3000
DEFAULT_WAIT = timedelta(seconds=30)
"""Wait after a rate limit without Retry-After."""
LABELS = {
    ChannelAction.MUTE_SENDER: "Mute sender",
    ChannelAction.PAUSE_HOUR: "Pause for an hour",
}
# What the owner of the channel has to mend: the token, the app's rights, or the channel.
CHANNEL_ERRORS = frozenset(
    {"token_revoked", "token_expired", "account_inactive", "invalid_auth", "not_authed"}
    | {"missing_scope", "no_permission", "not_allowed_token_type", "access_denied"}
    | {"accesslimited", "app_access_restricted", "ekm_access_denied", "enterprise_is_restricted"}
    | {"two_factor_setup_required", "message_limit_exceeded", "team_access_not_granted"}
    | {"org_login_required", "team_added_to_org", "channel_not_found", "not_in_channel"}
    | {"is_archived", "restricted_action", "restricted_action_read_only_channel"}
    | {"restricted_action_thread_only_channel", "messages_tab_disabled", "is_bot"}
    | {"team_not_found"}
)
RATE_ERRORS = frozenset({"ratelimited", "rate_limited"})
PASSING_ERRORS = frozenset({"service_unavailable", "request_timeout"})
DOUBTFUL_ERRORS = frozenset({"internal_error", "fatal_error"})


class SlackChannel:
    """See `ports.channel.ChannelPoster`."""

    def __init__(self, poster: Poster, *, api_url: str = API_URL) -> None:
        """Prepare; `poster` must send each request once."""
        self._poster = poster
        self._url = f"{api_url.rstrip('/')}/chat.postMessage"

    async def post(
        self, token: Secret, address: ChannelAddress, message: ChannelMessage
    ) -> ChannelAnswer:
        """Post a message to a channel or person once."""
        headers = (
            ("authorization", f"Bearer {token.reveal()}"),
            ("content-type", "application/json; charset=utf-8"),
        )
        body = write_json({"channel": address.to, **content_of(message)})
        return answer_of(await self._poster.post(self._url, headers, body))

    def close(self) -> None:
        """Release everything."""
        self._poster.close()


def content_of(message: ChannelMessage) -> dict[str, Any]:
    """Return the text and blocks of a message. Pure."""
    title = _escaped(message.title[:MAX_TITLE_CHARACTERS]) or "(no subject)"
    if message.link is not None:
        # In a link, a bar begins the text and a bracket ends it.
        title = f"<{message.link}|{title}>"
    lines = [f"*{title}*"]
    if message.sender:
        lines.append(_escaped(message.sender[:MAX_TITLE_CHARACTERS]))
    if message.preview:
        lines.append(f">{_escaped(message.preview)}")
    lines += [
        f"• *{_escaped(one.subject[:150]) or '(no subject)'}* {_escaped(one.sender[:150])}"
        for one in message.lines
    ]
    if message.mails > len(message.lines) and message.lines:
        lines.append(f"and {message.mails - len(message.lines)} more")
    received = int(message.received_at.timestamp())
    fallback = message.received_at.strftime("%Y-%m-%d %H:%M UTC")
    arrived = f"<!date^{received}^{{date_short_pretty}} {{time}}|{fallback}>"
    blocks: list[dict[str, Any]] = [
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": _fitting(lines)},
        },
        {
            "type": "context",
            "elements": [{"type": "mrkdwn", "text": f"{_escaped(message.inbox)} · {arrived}"}],
        },
    ]
    buttons = _buttons_of(message)
    if buttons:
        blocks.append({"type": "actions", "elements": buttons})
    words = f"{message.sender}: {message.title}" if message.sender else message.title
    text = _escaped(words[: 2 * MAX_TITLE_CHARACTERS])
    return {"text": text, "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _buttons_of(message: ChannelMessage) -> list[dict[str, Any]]:
    buttons = [_button(LABELS[action], action) for action in message.actions]
    if message.link is not None:
        buttons.insert(0, _button("Open", "open") | {"url": message.link})
    if message.actions:  # Slack sends a request for each of them, the link included
        buttons = [one | {"value": message.reference} for one in buttons]
    return buttons


def _button(label: str, action: str) -> dict[str, Any]:
    text = {"type": "plain_text", "text": label}
    return {"type": "button", "text": text, "action_id": action}


def answer_of(posted: Posted) -> ChannelAnswer:
    """Return what became of a request. Pure."""
    if posted.status is None:
        if posted.was_sent:
            return ChannelAnswer(PostResult.UNKNOWN, reason=f"Slack: {posted.why}")
        return ChannelAnswer(PostResult.FAILED, reason=f"Slack: {posted.why}")
    if posted.status == 429:
        wait = posted.retry_after or DEFAULT_WAIT
        return ChannelAnswer(PostResult.WAIT, reason="Slack: too many messages", wait=wait)
    if posted.status == 503:
        return ChannelAnswer(PostResult.FAILED, reason="Slack is unavailable (503)")
    if posted.status >= 500:
        why = f"Slack answered {posted.status}, and may have posted it"
        return ChannelAnswer(PostResult.UNKNOWN, reason=why)
    try:
        answer = orjson.loads(posted.body)
    except orjson.JSONDecodeError:
        answer = None
    if posted.status != 200 or not isinstance(answer, dict):
        result = PostResult.UNKNOWN if posted.status == 200 else PostResult.REFUSED
        return ChannelAnswer(result, reason=f"Slack answered {posted.status} without JSON")
    if answer.get("ok") is True:
        stamp = answer.get("ts")
        external = stamp[:128] if isinstance(stamp, str) else None
        return ChannelAnswer(PostResult.DELIVERED, external_id=external)
    return _refusal(answer.get("error"), posted.retry_after)


def _refusal(error: object, wait: timedelta | None) -> ChannelAnswer:
    word = error[:100] if isinstance(error, str) else "no error word"
    reason = f"Slack: {word}"
    if word in RATE_ERRORS:
        return ChannelAnswer(PostResult.WAIT, reason=reason, wait=wait or DEFAULT_WAIT)
    if word in CHANNEL_ERRORS:
        return ChannelAnswer(PostResult.CHANNEL, reason=reason)
    if word in PASSING_ERRORS:
        return ChannelAnswer(PostResult.FAILED, reason=reason)
    if word in DOUBTFUL_ERRORS:
        return ChannelAnswer(PostResult.UNKNOWN, reason=reason)
    return ChannelAnswer(PostResult.REFUSED, reason=reason)


def _fitting(lines: list[str]) -> str:
    """Return the first lines that fit into a block; a line that was cut could end in its markup."""
    while sum(map(len, lines)) + len(lines) > MAX_TEXT_CHARACTERS:
        lines = lines[:-1]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Return text in which Slack reads no mention, link or channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

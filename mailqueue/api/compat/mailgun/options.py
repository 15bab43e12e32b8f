"""Convert the options of a Mailgun request, and refuse unsupported ones. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import mktime_tz, parsedate_tz
from typing import Any

import orjson

from mailqueue.api.compat.mailboxes import split_mailboxes
from mailqueue.api.compat.mailgun.form import Form
from mailqueue.api.compat.option_fields import mapped_options
from mailqueue.core.errors import InvalidField
from mailqueue.core.json.size import values_in
from mailqueue.core.json.writing import write_json
from mailqueue.core.mail_options import Api, OptionType
from mailqueue.webhooks.formats.mailgun import USER_VARIABLES

MAX_DAYS = 3
MAX_TAGS = 10
_YES = frozenset({"yes", "true", "y", "1", "on"})
_NO = frozenset({"no", "false", "n", "0", "off"})
# Unsupported options whose default has the same effect here; any other value is refused.
_NEVER = {
    "require-tls": "TLS is a setting of the sender account",
    "skip-verification": "certificate checks are a setting of the sender account",
    "secondary-dkim-public": "the keys of the From domain are used",
    "tracking-pixel-location-top": "the pixel is at the end of the body",
}
_ALWAYS = {"dkim": "mail is signed with the keys of its domain"}
_OPTIONS = {one.compat[Api.MAILGUN]: one for one in mapped_options(Api.MAILGUN)}


@dataclass(frozen=True, slots=True)
class MailgunOptions:
    """Options of all mails of a request; `fields` are those of POST /v1/send."""

    fields: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    reply_to: str | None = None
    is_test: bool = False


def options_of(form: Form, now: datetime) -> MailgunOptions:
    """Return the options in the fields o:, h: and v:.

    Raises:
        InvalidField: the first option that is invalid or not supported.
    """
    fields: dict[str, Any] = {}
    given = form.with_prefix("o:")
    is_test = "testmode" in given and _is_yes("o:testmode", given.pop("testmode"))
    is_tracked = _is_tracked(given.pop("tracking", None))
    for name, values in given.items():
        fields |= _option(name, values, now)
    if is_tracked is True:
        fields = {"track_opens": True, "track_clicks": True} | fields
    elif is_tracked is False:
        fields |= {"track_opens": False, "track_clicks": False}
    headers, variables = _headers(form), {}
    for name, values in form.with_prefix("v:").items():
        variables[name] = _only(f"v:{name}", values)
    variables |= _embedded(headers)
    reply_to = headers.pop("reply-to", None)
    answers = ", ".join(split_mailboxes(reply_to or "")) or None
    return MailgunOptions(fields, headers, variables, answers, is_test)


def _option(name: str, values: list[str], now: datetime) -> dict[str, Any]:
    path = f"o:{name}"
    match name:
        case "tag":
            return {"tags": _tags(values)}
        case "deliverytime":
            return {"scheduled_at": _instant(path, _only(path, values), now)}
        case "tracking-clicks":
            # Links in plain text are never rewritten here.
            is_html = _only(path, values).lower() == "htmlonly"
            return {"track_clicks": is_html or _is_yes(path, values)}
        case _ if path in _OPTIONS:
            one = _OPTIONS[path]
            is_flag = one.type is OptionType.BOOLEAN
            return {one.api_field: _is_yes(path, values) if is_flag else _only(path, values)}
        case _ if name in _NEVER or name in _ALWAYS:
            if _is_yes(path, values) is not (name in _ALWAYS):
                why = _NEVER.get(name) or _ALWAYS[name]
                raise InvalidField(path, f"is not supported: {why}")
            return {}
    raise InvalidField(path[:100], "is not supported or not known")


def _is_tracked(values: list[str] | None) -> bool | None:
    if values is None:
        return None
    return _only("o:tracking", values).lower() == "htmlonly" or _is_yes("o:tracking", values)


def _tags(values: list[str]) -> list[str]:
    tags = list(dict.fromkeys(values))
    if len(tags) > MAX_TAGS:
        raise InvalidField("o:tag", f"at most {MAX_TAGS} tags")
    return tags


def _instant(path: str, text: str, now: datetime) -> datetime:
    """Parse a date of RFC 2822, which has a zone."""
    parts = parsedate_tz(text)
    try:
        if parts is None or parts[9] is None:
            raise ValueError("not a date with a zone")
        found = datetime.fromtimestamp(mktime_tz(parts), UTC)
    except (ValueError, OverflowError, OSError):
        why = f"a date as in RFC 2822 is needed, got {text[:100]!r}"
        raise InvalidField(path, why) from None
    if (found - now).total_seconds() > MAX_DAYS * 86_400:
        raise InvalidField(path, f"at most {MAX_DAYS} days from now")
    return found


def _is_yes(path: str, values: list[str]) -> bool:
    text = _only(path, values).strip().lower()
    if text not in _YES | _NO:
        raise InvalidField(path, f"must be yes or no, got {text[:100]!r}")
    return text in _YES


def _only(path: str, values: list[str]) -> str:
    if len(values) > 1:
        raise InvalidField(path[:100], "may be given once")
    return values[0]


def _headers(form: Form) -> dict[str, str]:
    """Return headers by name; names of headers that we interpret are in lower case."""
    found: dict[str, str] = {}
    for name, values in form.with_prefix("h:").items():
        own = name.lower()
        kept = own if own in ("reply-to", "x-mailgun-variables") else name
        if kept.lower() in (each.lower() for each in found):
            raise InvalidField(f"h:{name[:100]}", "may be given once")
        found[kept] = _only(f"h:{name}", values)
    return found


def _embedded(headers: dict[str, str]) -> dict[str, str]:
    """Return the variables in Mailgun's header X-Mailgun-Variables; it is not sent."""
    given = headers.pop("x-mailgun-variables", None)
    if given is None:
        return {}
    return {
        name: written(value) for name, value in object_of("h:X-Mailgun-Variables", given).items()
    }


MAX_VALUES = 100_000
"""Most values of one JSON field: a hundred variables of each of 1,000 recipients."""


def object_of(path: str, text: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        InvalidField: it is not an object, or has too many values.
    """
    if values_in(text.encode("utf-8", "replace"), few=MAX_VALUES, most=MAX_VALUES) > MAX_VALUES:
        raise InvalidField(path, f"holds too many values: {MAX_VALUES} are allowed")
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise InvalidField(path, "a JSON object is needed")
    return found


def written(value: Any) -> str:
    """Return a value as the text that is inserted."""
    if isinstance(value, str):
        return value
    return "" if value is None else write_json(value).decode()


def custom_data(variables: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the custom_data that stores a mail's variables; None without any."""
    return {USER_VARIABLES: dict(variables)} if variables else None

"""Validate the settings and credentials of an account against its provider. Pure."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import orjson

from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.core.outbound_guard import normal_host
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.senders.model import NewSender

MAX_SETTINGS_OCTETS = 16 * 1024
_HOST_PART = re.compile(r"[A-Za-z0-9.-]{1,253}")
# Options that belong to each mail, in any provider's words: an account cannot set them for all.
_DECIDED = frozenset(
    {
        *("to", "cc", "bcc", "destination", "personalizations", "recipient-variables"),
        *("from", "sender", "fromemailaddress", "reply_to", "reply_to_list", "replyto"),
        *("subject", "text", "html", "content", "textbody", "htmlbody", "text_body", "html_body"),
        *("headers", "custom_headers", "attachments", "inlines", "message"),
    }
)
_WORD_BY_TYPE = {
    str: "a text",
    bool: "true or false",
    int: "a number above 0",
    dict: "an object",
}


class InvalidSetting(InvalidField):
    """A setting of a provider is unknown, missing or not valid; `setting` is its name."""

    def __init__(self, setting: str, why: str) -> None:
        super().__init__("setting", why)
        self.setting = setting


def with_settings(new: NewSender) -> NewSender:
    """Return the account with validated settings; None where the provider has none.

    Raises:
        InvalidField: a setting is unknown, missing or of another type.
    """
    needs, given = new.provider.facts, dict(new.settings or {})
    for name, value in given.items():
        if name not in needs.settings:
            known = ", ".join(sorted(needs.settings)) or "none"
            raise InvalidSetting(name, f"{new.provider} has no setting {name!r}; it has: {known}")
        if needs.settings[name] is int and str(value).isdecimal():
            given[name] = value = int(value)
        _check_value(name, value, needs.settings[name])
    for name in needs.needed:
        if not given.get(name):
            raise InvalidSetting(name, f"{name} is needed for provider {new.provider}")
    if len(write_json(given)) > MAX_SETTINGS_OCTETS:
        raise InvalidField("setting", f"must be at most {MAX_SETTINGS_OCTETS} bytes in total")
    return replace(new, settings=given or None)


def with_api(new: NewSender) -> NewSender:
    """Return an account of a provider with an HTTP API as it is stored.

    Raises:
        InvalidField: the first field at fault.
    """
    needs = new.provider.facts
    for name in ("host", "port"):
        if getattr(new, name) is not None:
            raise InvalidField(name, f"has no meaning for provider {new.provider}: see api_url")
    if not new.password:
        raise InvalidField("api_key", f"is needed for provider {new.provider}")
    if needs.username and not new.username:
        raise InvalidField("username", f"is needed for {new.provider}: the {needs.username}")
    if not needs.username and new.username:
        raise InvalidField("username", f"has no meaning for provider {new.provider}")
    _check_secret(new)
    return new if new.api_url is None else replace(new, api_url=_checked_url(new.api_url))


def _check_value(name: str, value: Any, kind: type) -> None:
    is_right = isinstance(value, kind)
    if kind is int:
        is_right = is_right and not isinstance(value, bool) and int(value) > 0
    if not is_right:
        raise InvalidSetting(name, f"{name} must be {_WORD_BY_TYPE[kind]}, got {value!r}")
    if isinstance(value, str) and not (value.isascii() and value.isprintable()):
        raise InvalidSetting(name, f"{name} must be printable ASCII, got {value!r}")
    if name == "extra" and (decided := [one for one in value if one.lower() in _DECIDED]):
        raise InvalidSetting(name, f"extra may not have {decided[0]}: it is set for each email")
    if name == "auth" and value not in ("password", "xoauth2"):
        raise InvalidSetting(name, f"auth must be password or xoauth2, got {value!r}")
    if name in ("region", "domain") and not _HOST_PART.fullmatch(str(value)):
        raise InvalidSetting(name, f"{name} must be letters, digits, . and -, got {value!r}")
    if name == "token_url":
        _checked_url(str(value))


def _check_secret(new: NewSender) -> None:
    """Raise InvalidField for a key that no header can carry, or a secret document of another
    form.
    """
    secret = new.password or Secret("")
    if new.provider is Provider.GMAIL:
        check_grant(secret)
    elif not secret.reveal().startswith("{") and not (
        secret.reveal().isascii() and secret.reveal().isprintable()
    ):
        raise InvalidField("api_key", "must be one line of printable ASCII")


def check_grant(document: Secret) -> None:
    """Raise InvalidField for a document that is neither a key file nor a refresh token.

    Raises:
        InvalidField: the field that OAuth accounts need is missing.
    """
    try:
        given = orjson.loads(document.reveal())
    except orjson.JSONDecodeError:
        given = None
    wanted = ("client_id", "client_secret", "refresh_token")
    if isinstance(given, dict) and given.get("type") == "service_account":
        wanted = ("client_email", "private_key", "private_key_id")
    if not isinstance(given, dict) or not all(isinstance(given.get(name), str) for name in wanted):
        raise InvalidField(
            "api_key",
            "must be the key file of a service account, or a JSON document with client_id, "
            "client_secret and refresh_token",
        )


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    try:
        host = normal_host(parts.hostname or "")
        port = parts.port
    except ValueError as exc:
        raise InvalidField("api_url", str(exc)) from exc
    is_plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if parts.scheme not in ("https", "http") or not host or not is_plain:
        raise InvalidField("api_url", f"must begin with https:// and name a host, got {url!r}")
    if "@" in parts.netloc or parts.query or parts.fragment or port == 0:
        raise InvalidField("api_url", f"may hold a host, a port and a path only, got {url!r}")
    return url.rstrip("/")

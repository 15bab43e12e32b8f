"""Validate sender accounts and their limits. Pure."""

import re
from dataclasses import fields, replace

from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.core.outbound_guard import normal_host
from mailqueue.core.providers import Provider
from mailqueue.senders.model import KEEP, Limits, LimitsChange, NewSender, Tls
from mailqueue.senders.providers import check_grant, with_api, with_settings

_NAME = re.compile(r"(?=.{1,128}\Z)[A-Za-z0-9][A-Za-z0-9._@+-]*(?: [A-Za-z0-9._@+-]+)*")

PORT_BY_TLS = {Tls.NONE: 25, Tls.STARTTLS: 587, Tls.IMPLICIT: 465}

# Field, minimum and maximum; the database has the same CHECKs.
_RANGES = (
    ("daily_limit", 1, 1_000_000_000),
    ("hourly_limit", 1, 1_000_000_000),
    ("minute_limit", 1, 1_000_000_000),
    ("burst", 1, 1_000_000),
    ("batch_size", 1, 10_000),
    ("send_delay_ms", 0, 3_600_000),
    ("max_connections", 1, 100),
)
_RATE_MAX = 1_000_000.0
_MAX_STAGES = 100


def checked(new: NewSender) -> NewSender:
    """Return the account with defaults filled in and its address normalized.

    Raises:
        InvalidField: the first field at fault, with the value.
    """
    ready = with_settings(checked_person(new))
    if new.provider.has_api:
        return with_api(ready)
    if new.api_url is not None:
        raise InvalidField("api_url", f"has no meaning for provider {new.provider}")
    return _with_server(ready) if new.provider is Provider.SMTP else _without_server(ready)


def checked_person(new: NewSender) -> NewSender:
    """Return the account after the checks that hold for every provider.

    Raises:
        InvalidField: the first field at fault, with the value.
    """
    check_text("name", new.name)
    if not _NAME.fullmatch(new.name):
        raise InvalidField(
            "name",
            "must be 1 to 128 letters, digits or any of . _ @ + - and single spaces between, and "
            f"begin with a letter or digit, got {new.name!r}",
        )
    check_range("priority", new.priority, minimum=0, maximum=32_767)
    for field in ("display_name", "username", "notes"):
        check_text(field, getattr(new, field))
    return replace(new, email=_sent_form(new.email), limits=checked_limits(new.limits))


def checked_limits(limits: Limits) -> Limits:
    """Return the limits if they are valid.

    Raises:
        InvalidField: the first limit out of its range, with the value.
    """
    for field, least, most in _RANGES:
        given = getattr(limits, field)
        if given is not None:
            check_range(field, given, minimum=least, maximum=most)
    _check_warm_up(limits.warm_up)
    if limits.rate_per_second is not None:
        check_rate("rate_per_second", limits.rate_per_second)
    return limits


def _check_warm_up(stages: tuple[int, ...] | None) -> None:
    if stages is None:
        return
    if not 1 <= len(stages) <= _MAX_STAGES:
        raise InvalidField("warm_up", f"must be 1 to {_MAX_STAGES} stages, got {len(stages)}")
    for stage in stages:
        check_range("warm_up", stage, minimum=1, maximum=1_000_000_000)


def changed(limits: Limits, change: LimitsChange) -> Limits:
    """Return the limits after the change.

    Raises:
        InvalidField: as `checked_limits`.
    """
    named = {field.name: getattr(change, field.name) for field in fields(change)}
    return checked_limits(
        replace(limits, **{name: to for name, to in named.items() if to is not KEEP})
    )


def check_range(field: str, value: int, *, minimum: int, maximum: int) -> None:
    """Raise InvalidField for a number outside of `minimum` to `maximum`."""
    if value < minimum:
        raise InvalidField(field, f"must be at least {minimum}, got {value}")
    if value > maximum:
        raise InvalidField(field, f"must be at most {maximum}, got {value}")


def check_rate(field: str, value: float) -> None:
    """Raise InvalidField for a rate that is not positive or above the maximum."""
    if not 0 < value <= _RATE_MAX:
        raise InvalidField(field, f"must be above 0 and at most 1000000, got {value:g}")


def _with_server(new: NewSender) -> NewSender:
    if not new.host:
        raise InvalidField("host", "is needed for provider smtp")
    try:
        host = normal_host(new.host)
    except ValueError as exc:
        raise InvalidField("host", str(exc)) from exc
    port = PORT_BY_TLS[new.tls] if new.port is None else new.port
    check_range("port", port, minimum=1, maximum=65_535)
    if new.username and not new.password:
        raise InvalidField("password", f"is needed with username {new.username!r}")
    if new.password and not new.username:
        raise InvalidField("username", "is needed with a password")
    if new.password and new.settings and new.settings.get("auth") == "xoauth2":
        check_grant(new.password)
    return replace(new, host=host, port=port)


def _without_server(new: NewSender) -> NewSender:
    for field in ("host", "port", "username", "password"):
        if getattr(new, field) is not None:
            raise InvalidField(field, f"has no meaning for provider {new.provider}")
    return new


def _sent_form(email: str | None) -> str | None:
    try:
        return None if email is None else parse_address(email).sent
    except InvalidAddress as exc:
        raise InvalidField("email", str(exc)) from exc


def check_text(field: str, text: str | None) -> None:
    """Raise InvalidField for text that is too long or not printable."""
    if text is not None and not text.isprintable():
        raise InvalidField(field, f"must be printable text, got {text!r}")
    if text is not None and len(text) > 998:
        raise InvalidField(field, f"must be at most 998 characters, got {len(text)}")

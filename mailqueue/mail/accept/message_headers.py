"""Read the options in the X-Mailqueue fields of a finished message; they are removed before
sending.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from mailqueue.core.errors import InvalidField
from mailqueue.core.mail_options import MAIL_OPTIONS, OptionType
from mailqueue.core.storable_text import TOO_DEEP
from mailqueue.mime.rawhead import RawField, RawHead

PREFIX = "x-mailqueue-"
# Fields that we send to some providers: they may return in forwarded mail.
_STAMPS = frozenset({"x-mailqueue-id"})


def is_control(name: str) -> bool:
    """Return whether a header field of that name is an option."""
    return name.lower().startswith(PREFIX)


def options_of(head: RawHead) -> dict[str, object]:
    """Return the options of enqueue() that the fields set.

    Raises:
        InvalidField: a field is unknown, repeated or has an invalid value.
    """
    options: dict[str, object] = {}
    tags: list[str] = []
    for field in head.fields:
        name = field.name.lower()
        if not name.startswith(PREFIX) or name in _STAMPS:
            continue
        if name in _TAGS:
            tags += [tag for each in field.decoded.split(",") if (tag := each.strip())]
            continue
        option, read = _OPTIONS.get(name, (None, _text))
        if option is None:
            raise InvalidField(field.name[:80], "is not a field of mailqueue")
        if option in options:
            raise InvalidField(field.name, "stands twice")
        options[option] = read(field)
    return options | ({"tags": list(dict.fromkeys(tags))} if tags else {})


def _text(field: RawField) -> object:
    said = field.decoded
    if not said:
        raise InvalidField(field.name, "is empty")
    return said


def _number(field: RawField) -> object:
    said = field.decoded
    if not (said.isascii() and said.isdigit() and len(said) <= 4):
        raise InvalidField(field.name, f"a number is needed, got {said[:100]!r}")
    return int(said)


def _instant(field: RawField) -> object:
    """Return a time in ISO 8601 or RFC 5322 format; it needs a time zone."""
    said = field.decoded
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(said)
        except (ValueError, TypeError, OverflowError):
            continue
        if found.tzinfo is not None:
            return found.isoformat()
    raise InvalidField(
        field.name, f"a time with its zone is needed, as 2030-01-31T09:00:00Z, got {said[:100]!r}"
    )


def _object(field: RawField) -> object:
    try:
        found = json.loads(field.decoded)
    except RecursionError:
        raise InvalidField(field.name, TOO_DEEP) from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidField(field.name, "a JSON object is needed")
    return found


_READER_BY_TYPE: Mapping[OptionType, Callable[[RawField], object]] = {
    OptionType.STRING: _text,
    OptionType.PRIORITY: _text,
    OptionType.WHOLE: _number,
    OptionType.INSTANT: _instant,
    OptionType.OBJECT: _object,
}
_OPTIONS = {
    f"{PREFIX}{name}": (one.name, _READER_BY_TYPE[one.type])
    for one in MAIL_OPTIONS
    if one.name != "tags"
    for name in one.headers
}
_TAGS = frozenset(
    f"{PREFIX}{name}" for one in MAIL_OPTIONS if one.name == "tags" for name in one.headers
)
NAMES = tuple(sorted((*_TAGS, *_OPTIONS)))

"""Decides which texts PostgreSQL can hold. Pure."""

from collections.abc import Iterator, Mapping

from mailqueue.core.errors import InvalidField


def unstorable(name: str, value: object) -> InvalidField | None:
    """Name the field with characters no text in PostgreSQL can hold.

    Looks into lists and mappings; what is found in a mapping without a name of its own (`name` is
    empty) is called by its key.
    """
    for field, text in _texts(name, value):
        if "\0" in text:
            return InvalidField(field, "a NUL character is not allowed")
        if not _is_unicode(text):
            return InvalidField(field, "it is not valid Unicode")
    return None


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield name, value
        case Mapping():
            for key, item in value.items():
                under = name or str(key)
                yield from _texts(under, key)
                yield from _texts(under, item)
        case list() | tuple():
            for item in value:
                yield from _texts(name, item)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Refusals of values by the database, as errors that name the field."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.errors import InvalidParameterValue

from mailqueue.core.errors import InvalidField, Refusal


@contextmanager
def refusals(*, otherwise: str | None = None) -> Iterator[None]:
    """Raise InvalidField in place of a refusal by mailqueue.refuse().

    `otherwise` names the field of a value that PostgreSQL itself refuses; without it, that error
    stays as it is.
    """
    try:
        yield
    except InvalidParameterValue as exc:
        field = exc.diag.column_name or otherwise
        if field is None:
            raise
        why = (exc.diag.message_primary or str(exc)).removeprefix(f"{field}: ")
        raise InvalidField(field, why, Refusal.of(exc.diag.constraint_name)) from exc


def refusal_of(reason: str | None, code: str | None = None) -> InvalidField:
    """Return the refusal whose text is `field: why`. Pure."""
    field, _, why = (reason or "").partition(": ")
    return InvalidField(field, why, Refusal.of(code))

"""Refusals of values by the database, as errors that name the field."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import DatabaseError
from psycopg.errors import InvalidParameterValue, LockNotAvailable

from mailqueue.core.errors import Conflict, InvalidField, Refusal, Unauthorized
from mailqueue.db.faults import project_full

_KEY_ENDED = "MQ004"


@contextmanager
def refusals(*, otherwise: str | None = None) -> Iterator[None]:
    """Raise InvalidField in place of a refusal by mailqueue.refuse().

    `otherwise` names the field of a value that PostgreSQL itself refuses; without it, that error
    stays as it is.

    Raises:
        InvalidField: naming the field.
        Unauthorized: a key that the statement needs is not valid.
    """
    try:
        yield
    except InvalidParameterValue as exc:
        field = exc.diag.column_name or otherwise
        if field is None:
            raise
        why = (exc.diag.message_primary or str(exc)).removeprefix(f"{field}: ")
        raise InvalidField(field, why, Refusal.of(exc.diag.constraint_name)) from exc
    except DatabaseError as exc:
        if exc.sqlstate == _KEY_ENDED:
            raise Unauthorized(exc.diag.message_primary or str(exc)) from exc
        raise


@contextmanager
def part_refusals() -> Iterator[None]:
    """Raise what the makers of a long list of mail wait for, in place of errors of its next part.

    Raises:
        InvalidField: the content of the mail or its list is refused.
        ProjectFull: the project may have no more mail now.
        Conflict: another transaction changes or removes a contact; nothing was made.
    """
    try:
        with refusals():
            yield
    except LockNotAvailable as exc:
        raise Conflict("a contact of it is being changed or removed") from exc
    except DatabaseError as exc:
        if (full := project_full(exc)) is not None:
            raise full from exc
        raise


def refusal_of(reason: str | None, code: str | None = None) -> InvalidField:
    """Return the refusal whose text is `field: why`. Pure."""
    field, _, why = (reason or "").partition(": ")
    return InvalidField(field, why, Refusal.of(code))

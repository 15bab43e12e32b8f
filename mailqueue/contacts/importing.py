"""Import contacts from CSV or JSON, line by line, in memory that does not grow with the file."""

import asyncio
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from itertools import islice
from typing import Any, BinaryIO
from uuid import UUID

from mailqueue.contacts import store
from mailqueue.contacts.model import ContactTally
from mailqueue.contract.suppression import BadLine
from mailqueue.core.errors import InvalidField
from mailqueue.core.mailboxes import with_wire_domain
from mailqueue.core.storable_text import unstorable
from mailqueue.db.fetch import Conn
from mailqueue.suppression.lists.encoding import encoding_of
from mailqueue.suppression.lists.reading import ADDRESS_NAMES, read_records

FIELDS = (
    *("first_name", "last_name", "time_zone", "date_of_birth", "language"),
    *("consented_at", "consent_source", "consent_wording"),
)
OTHER_NAMES: Mapping[str, str] = {
    "firstname": "first_name",
    "given_name": "first_name",
    "lastname": "last_name",
    "surname": "last_name",
    "family_name": "last_name",
    "timezone": "time_zone",
    "birthday": "date_of_birth",
    "birthdate": "date_of_birth",
    "locale": "language",
    "lang": "language",
}
"""Fields by names that other programs give to columns."""
IGNORED = ("id", "created_at", "updated_at")
"""Columns of an export that an import does not read."""
MAX_ERRORS = 100
"""Bad lines that are kept for the answer."""
LINES_PER_COMMIT = 200
"""Lines that are committed together: each locks a row that other writers of contacts wait for."""

Fields = dict[str, Any]
NumberedFields = tuple[int, Fields]


async def import_contacts(
    conn: Conn,
    project_id: UUID,
    *,
    file: BinaryIO,
    list_name: str | None = None,
    is_trial: bool = False,
    tally: ContactTally,
    tell: Callable[[BadLine], None] | None = None,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Add every valid line of a file or change the contact of its address, counted in `tally`.

    The file is seekable. Fields that a line does not have stay as they are, so that importing
    again continues an import that was interrupted. `tell` is called with each bad line, `advance`
    with the number of lines of each commit. With `is_trial` everything is counted and rolled back.

    Raises:
        InvalidField: field `file`; it is not a list. What was committed before stays.
        InvalidField: there is no such list, or it has a condition.
        ProjectFull: the project may have no more contacts. What was committed before stays.
    """

    def refuse(bad: BadLine) -> None:
        tally.bad += 1
        if len(tally.errors) < MAX_ERRORS:
            tally.errors.append(bad)
        if tell is not None:
            tell(bad)

    tally.encoding = await asyncio.to_thread(encoding_of, file)  # reads all of it
    whole: AbstractAsyncContextManager[object] = nullcontext()
    if is_trial:
        whole = conn.transaction(force_rollback=True)
    with closing(_read(file, tally)) as lines:  # before the file is
        async with whole:
            while read := list(islice(lines, LINES_PER_COMMIT)):
                await asyncio.sleep(0)  # a file may have bad lines alone
                some: list[NumberedFields] = []
                for line in read:
                    if isinstance(line, BadLine):
                        refuse(line)
                    else:
                        some.append(line)
                if not some:
                    continue
                for one in await store.import_lines(conn, project_id, some, list_name=list_name):
                    if one.outcome == "bad":
                        column, _, why = (one.reason or "").partition(": ")
                        refuse(BadLine(one.line, why, column))
                    else:
                        setattr(tally, one.outcome, getattr(tally, one.outcome) + 1)
                if advance is not None:
                    advance(len(some))


async def put_all(
    conn: Conn, project_id: UUID, contacts: Sequence[Fields], *, list_name: str | None
) -> None:
    """Add contacts, or change the one of each address, and add them to a list: all of them, or
    none.

    Raises:
        InvalidField: field `members.N`; one is invalid. Or the list has a condition.
        ProjectFull: the project may have no more contacts.
    """
    lines = list(enumerate(contacts))
    async with conn.transaction():
        for one in await store.import_lines(conn, project_id, lines, list_name=list_name):
            if one.outcome == "bad":
                raise InvalidField(f"members.{one.line}", one.reason or "is invalid")


def _read(file: BinaryIO, tally: ContactTally) -> Generator[NumberedFields | BadLine, None, None]:
    for number, values in read_records(file, tally.encoding):
        try:
            if isinstance(values, str):
                yield BadLine(number, values)
            else:
                yield number, fields_of(values)
        except InvalidField as exc:
            yield BadLine(number, exc.why, exc.field)


def fields_of(values: Mapping[str, object]) -> Fields:
    """Return the fields of a contact from the values of a line by column name. Pure.

    Empty values are left out. Columns with other names are attributes.

    Raises:
        InvalidField: a value has characters that cannot be stored, or `attributes` is no object.
    """
    email = next((values[name] for name in ADDRESS_NAMES if values.get(name)), None)
    if not isinstance(email, str):
        raise InvalidField("email", "is missing")
    found: Fields = {"email": with_wire_domain(email.strip())}
    attributes: Fields = {}
    for name, value in values.items():
        field = OTHER_NAMES.get(name, name)
        if value in (None, "") or not name or name in ADDRESS_NAMES or name in IGNORED:
            continue
        if field == "attributes":
            attributes |= _attributes(value)
        elif field in FIELDS:
            found[field] = value
        else:
            attributes[name] = value
    if attributes:
        found["attributes"] = attributes
    if (fault := unstorable("", found)) is not None:
        raise fault
    return found


def _attributes(value: object) -> Mapping[str, Any]:
    read = value
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            raise InvalidField("attributes", "is not valid JSON") from None
    if not isinstance(read, dict):
        raise InvalidField("attributes", "an object of names and values is needed")
    return read

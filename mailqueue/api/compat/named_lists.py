"""Lists of contacts whose names are chosen freely, as providers have them.

The name of a list is short and plain, so that of the provider is its description; a list without a
description is shown by its name.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated
from uuid import uuid4

from pydantic import Field

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.contacts import lists
from mailqueue.contract.contacts import ContactList
from mailqueue.core.errors import Conflict, InvalidField

MAX_NAME_CHARACTERS = 50
_OTHER = re.compile(r"[^a-z0-9]+")
NameOfList = Annotated[StorableText, Field(min_length=1, max_length=500)]


def newest_first(found: Sequence[ContactList]) -> list[ContactList]:
    """Return lists, the newest first. Pure."""
    return sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)


def name_of(one: ContactList) -> str:
    """Return the provider's name of a list. Pure."""
    return one.description or one.name


def list_name(name: str, *, otherwise: str) -> str:
    """Return the name of the list for one of a provider: its letters and digits in lower case.

    `otherwise` stands for a name without any. Pure.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _OTHER.sub("-", plain).strip("-")[:MAX_NAME_CHARACTERS].rstrip("-") or otherwise


async def add_named(call: RequestContext, name: str, *, otherwise: str) -> ContactList:
    """Add a list; where its short name is taken already, digits are added to it.

    Raises:
        InvalidField: field `name`.
    """
    short, given = list_name(name, otherwise=otherwise), {"description": name}
    project_id = call.caller.project_id
    async with call.connection() as conn:
        try:
            return await lists.add(conn, project_id, short, given=given, by=call.by)
        except Conflict:
            longer = f"{short}-{uuid4().hex[:12]}"
            return await lists.add(conn, project_id, longer, given=given, by=call.by)
        except InvalidField as exc:
            raise _renamed(exc) from exc


async def rename(call: RequestContext, one: ContactList, name: str) -> ContactList:
    """Change the provider's name of a list; its short name stays.

    Raises:
        InvalidField: field `name`.
    """
    async with call.connection() as conn:
        try:
            return await lists.change(
                conn, call.caller.project_id, one.name, given={"description": name}, by=call.by
            )
        except InvalidField as exc:
            raise _renamed(exc) from exc


def _renamed(exc: InvalidField) -> InvalidField:
    return exc.named("name") if exc.field == "description" else exc

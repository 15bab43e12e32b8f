"""Contacts and segments that tests add by Resend's library."""

from typing import Any

import resend

from tests.clients.serving import Served
from tests.clients.suppressing import clear

ANN = "ann@example.org"


def empty(site: Served) -> None:
    """Remove all contacts, lists and suppressions."""
    site.rows("DELETE FROM mailqueue.contact_lists RETURNING 1")
    site.rows("DELETE FROM mailqueue.contacts RETURNING 1")
    clear(site)


def added(email: str = ANN, **fields: Any) -> str:
    """Add a contact and return its id."""
    made: Any = resend.Contacts.create({"email": email, **fields})  # type: ignore[typeddict-item]
    return str(made["id"])


def segment(name: str = "Monthly news") -> str:
    """Add a segment and return its id."""
    made: Any = resend.Segments.create({"name": name})
    return str(made["id"])


def addresses(found: Any) -> list[str]:
    """Return the addresses of a list of contacts."""
    return [one["email"] for one in found["data"]]

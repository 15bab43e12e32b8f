"""Endpoints of contacts."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.contacts.files import FILE_ENDPOINTS
from mailqueue.api.contacts.imports import IMPORT_ENDPOINTS
from mailqueue.api.contacts.lists import LIST_ENDPOINTS
from mailqueue.api.contacts.schema import ChangeContact, ContactsQuery, MoveContact, NewContact
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.contacts import contacts
from mailqueue.contacts.model import ContactFilter
from mailqueue.contract.contacts import Contact, ContactDetail, RemovedContact
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope

_TAG = "Contacts"
PATH = "/v1/contacts"
_ONE = PATH + "/{contact}"


async def add(call: RequestContext) -> Contact:
    """Add a contact."""
    async with call.connection() as conn:
        return await contacts.add(
            conn, call.caller.project_id, call.body.model_dump(exclude_unset=True)
        )


async def list_(call: RequestContext) -> Page[Contact]:
    """List contacts, newest first."""
    query: ContactsQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    filters = ContactFilter(query.q, query.language, query.time_zone, query.condition)
    async with call.connection() as conn:
        return await contacts.list_page(
            conn, call.caller.project_id, filters=filters, before=before, limit=query.limit
        )


async def show(call: RequestContext) -> ContactDetail:
    """Return a contact."""
    async with call.connection() as conn:
        return await contacts.show(conn, call.caller.project_id, call.path["contact"])


async def change(call: RequestContext) -> Contact:
    """Change a contact."""
    given = call.body.model_dump(exclude_unset=True)
    async with call.connection() as conn:
        return await contacts.change(conn, call.caller.project_id, call.path["contact"], given)


async def put(call: RequestContext) -> Contact:
    """Add the contact of an address, or change it."""
    given = call.body.model_dump(exclude_unset=True)
    async with call.connection() as conn:
        return await contacts.put(conn, call.caller.project_id, call.path["contact"], given)


async def remove(call: RequestContext) -> RemovedContact:
    """Remove a contact."""
    async with call.connection() as conn:
        return await contacts.remove(conn, call.caller.project_id, call.path["contact"])


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.CONTACTS_WRITE,
        "Add a contact.",
        add,
        request=NewContact,
        response=Contact,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={
            "email": "ann@example.com",
            "first_name": "Ann",
            "time_zone": "Europe/Berlin",
            "date_of_birth": "1990-02-28",
            "attributes": {"plan": "pro"},
        },
        description="A contact of the same address, in any spelling, is 409.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.CONTACTS_READ,
        "List contacts, newest first.",
        list_,
        query=ContactsQuery,
        response=Page[Contact],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    *FILE_ENDPOINTS,
    *IMPORT_ENDPOINTS,
    Endpoint(
        "GET",
        _ONE,
        Scope.CONTACTS_READ,
        "Show a contact, by id or address, and its lists.",
        show,
        response=ContactDetail,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PATCH",
        _ONE,
        Scope.CONTACTS_WRITE,
        "Change a contact.",
        change,
        request=MoveContact,
        response=Contact,
        tag=_TAG,
        example={"first_name": "Anna", "attributes": {"plan": None}},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PUT",
        _ONE,
        Scope.CONTACTS_WRITE,
        "Add the contact of an address, or change it.",
        put,
        request=ChangeContact,
        response=Contact,
        tag=_TAG,
        example={"first_name": "Ann", "language": "en"},
        description="Fields that are not given stay as they are. An id changes that contact.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.CONTACTS_WRITE,
        "Remove a contact, and cancel what is pending for it.",
        remove,
        response=RemovedContact,
        tag=_TAG,
        description="Unfinished email to it alone is cancelled in the same transaction. To erase "
        "all that is stored about a person, erase the address.",
        test_keys=ForTestKeys.OWN,
    ),
    *LIST_ENDPOINTS,
)

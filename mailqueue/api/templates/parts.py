"""Endpoints of layouts and partials, which templates share."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.templates.schema import PutPart
from mailqueue.api.templates.views import owner_of
from mailqueue.contract.page import Page
from mailqueue.contract.templates import TemplatePart
from mailqueue.core.errors import NotFound
from mailqueue.projects.model import Scope
from mailqueue.templates import values, writing

PATH = "/v1/projects/{pid}/template-parts"
_ONE = PATH + "/{name}"
_TAG = "Templates"


async def index(call: RequestContext) -> Page[TemplatePart]:
    """List layouts and partials by name."""
    async with call.connection() as conn:
        found = await writing.list_parts(conn, owner_of(call))
    return Page([values.part_of(one) for one in found], None)


async def show(call: RequestContext) -> TemplatePart:
    """Return a layout or partial: the project's, else the platform's."""
    name = call.path["name"]
    async with call.connection() as conn:
        found = await writing.list_parts(conn, owner_of(call))
    for one in found:
        if one.name == name:
            return values.part_of(one)
    raise NotFound("layout or partial", name[:100])


async def put(call: RequestContext) -> TemplatePart:
    """Create or replace a layout or partial."""
    wanted: PutPart = call.body
    own, name = owner_of(call), call.path["name"]
    async with call.connection() as conn:
        await writing.put_part(
            conn, own, name=name, kind=wanted.kind, source=wanted.source, by=call.by
        )
        found = await writing.list_parts(conn, own)
    return next(values.part_of(one) for one in found if one.name == name)


async def remove(call: RequestContext) -> None:
    """Delete a layout or partial."""
    async with call.connection() as conn:
        own = owner_of(call)
        await writing.remove_part(conn, own, name=call.path["name"], by=call.by)


PART_ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.TEMPLATE_READ,
        "List layouts and partials by name, including those of the platform.",
        index,
        response=Page[TemplatePart],
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.TEMPLATE_READ,
        "Show a layout or partial.",
        show,
        response=TemplatePart,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        _ONE,
        Scope.TEMPLATE_WRITE,
        "Create or replace a layout or partial.",
        put,
        request=PutPart,
        response=TemplatePart,
        tag=_TAG,
        description="Existing versions keep the one they were compiled with: create a new "
        "version to use the change.",
        example={"kind": "partial", "source": "<p>Acme Corp, Main Street 1</p>"},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.TEMPLATE_WRITE,
        "Delete a layout or partial.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Existing versions that use it keep it.",
        test_keys=ForTestKeys.REFUSED,
    ),
)

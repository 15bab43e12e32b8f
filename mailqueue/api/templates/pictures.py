"""Endpoints of pictures of templates."""

from http import HTTPStatus

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.requests.spool import spooled
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.page import Page
from mailqueue.contract.templates import TemplatePicture
from mailqueue.projects.model import Scope
from mailqueue.templates.pictures import keeping
from mailqueue.templates.pictures.model import MAX_BYTES, PictureRow

PATH = "/v1/projects/{pid}/template-pictures"
_ONE = PATH + "/{picture_id}"
_TAG = "Templates"


class PictureQuery(RequestModel):
    """Name of a picture."""

    name: str = Field(min_length=1, max_length=255)
    """File name, for people, such as `logo.png`."""


async def index(call: RequestContext) -> Page[TemplatePicture]:
    """List pictures, newest first."""
    async with call.connection() as conn:
        found = await keeping.list_all(conn, call.caller.project_id)
    return Page([_value_of(call, one) for one in found], None)


async def upload(call: RequestContext) -> TemplatePicture:
    """Store a picture."""
    query: PictureQuery = call.query
    # Received completely first: a slow client must not hold a connection.
    async with spooled(call.request, max_bytes=MAX_BYTES) as file:
        picture = await keeping.received(query.name, file.read())
    async with call.connection() as conn:
        made = await keeping.add(conn, call.caller.project_id, picture, by=call.by)
    return _value_of(call, made)


async def show(call: RequestContext) -> TemplatePicture:
    """Return a picture, without its bytes."""
    async with call.connection() as conn:
        found = await keeping.find(conn, call.caller.project_id, call.id("picture_id"))
    return _value_of(call, found)


async def remove(call: RequestContext) -> None:
    """Delete a picture."""
    async with call.connection() as conn:
        await keeping.remove(conn, call.caller.project_id, call.id("picture_id"), by=call.by)


def _value_of(call: RequestContext, row: PictureRow) -> TemplatePicture:
    return keeping.value_of(row, public_url=call.settings.tracking.public_url)


ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.TEMPLATE_READ,
        "List pictures of templates, newest first.",
        index,
        response=Page[TemplatePicture],
        tag=_TAG,
        description="All of them, at most 200: there is one page.",
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.TEMPLATE_WRITE,
        "Upload a picture, for the HTML of templates.",
        upload,
        query=PictureQuery,
        response=TemplatePicture,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        once=Once.NEVER,
        description="The body is the picture itself: PNG, JPEG, GIF or WebP, at most 1 MiB. Its "
        "type is read from its bytes. Anyone who has its `url` may fetch it. The same bytes are "
        "the same picture: it is answered under the name that it has. A project may have 200 "
        "pictures, of 64 MiB together.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.TEMPLATE_READ,
        "Show a picture of templates.",
        show,
        response=TemplatePicture,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.TEMPLATE_WRITE,
        "Delete a picture of templates.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Emails that name it, those sent before included, show nothing in its place: "
        "its URL answers 404 within a minute, and caches between forget it within a day. The logo "
        "of the project is not deleted.",
        test_keys=ForTestKeys.REFUSED,
    ),
)

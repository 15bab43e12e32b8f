"""The routes that describe the API: `/openapi.json` and `/docs`."""

from collections.abc import Sequence
from functools import cache

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mailqueue.api.http.docs.examples import JsonSchema
from mailqueue.api.http.docs.reference import reference_page
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.openapi.document import openapi
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_bytes_answer
from mailqueue.web.beside import REFERENCE, pages_beside


def document_routes(endpoints: Sequence[Endpoint], *, public_url: str | None) -> list[BaseRoute]:
    """Return both routes; the documents are built at the first request and need no key.

    Example commands on the page use `public_url`, or the address of the server.
    """

    @cache
    def document() -> JsonSchema:
        return openapi(endpoints)

    @cache
    def written() -> bytes:
        return orjson.dumps(document())

    async def show_json(request: Request) -> Response:  # noqa: ARG001
        return json_bytes_answer(written())

    async def show_page(request: Request) -> Response:
        origin = origin_of(request.scope, public_url)
        beside = pages_beside(request.scope, REFERENCE)
        page = reference_page(document(), origin=origin, beside=beside)
        return Response(page.html, media_type="text/html", headers=page.headers)

    return [Route("/openapi.json", show_json), Route(REFERENCE, show_page)]

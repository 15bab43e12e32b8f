"""The endpoint that searches all projects."""

from typing import Annotated

from pydantic import Field

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.page import Page
from mailqueue.contract.search import Match
from mailqueue.operations import search as searching


class SearchQuery(RequestModel):
    """What to search for."""

    q: Annotated[StorableText, Field(min_length=1, max_length=1000)]
    """Id of an email, batch, project or template; Message-ID; id at the provider; address; or the
    first characters of the name or slug of a project or template.
    """


async def search(call: RequestContext) -> Page[Match]:
    """Find what a text names."""
    query: SearchQuery = call.query
    async with call.connection() as conn:
        return Page(await searching.search(conn, query.q), None)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/admin/search",
        None,
        "Search all projects.",
        search,
        query=SearchQuery,
        response=Page[Match],
        superadmin=True,
        tag="Installation",
        description="Finds emails and batches by id, Message-ID and the provider's id, recipients "
        "by address, and projects and templates by id and by the beginning of their names. At most "
        "20 of each kind. Emails in the archive are not found.",
    ),
)

"""Endpoints of the tracking domain of a project."""

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.contract.domains import TrackingDomainCheck, TrackingDomainStatus
from mailqueue.deliverability.resolver import Resolver
from mailqueue.tenants.model import Scope
from mailqueue.tracking import domains

PATH = "/v1/tracking-domain"
_TAG = "Tracking"


async def show(call: RequestContext) -> TrackingDomainStatus:
    """Return the tracking domain of the project."""
    async with call.connection() as conn:
        found = await domains.project_of(conn, call.caller.project)
    return domains.status_of(found, public_url=call.settings.tracking.public_url)


async def verify(call: RequestContext) -> TrackingDomainCheck:
    """Check the domain in DNS, with no connection held; links use it once it leads here."""
    async with call.connection() as conn:
        found = await domains.project_of(conn, call.caller.project)
    check = await domains.look_up(
        found,
        public_url=call.settings.tracking.public_url,
        resolver=Resolver(call.settings.name_servers),
    )
    async with call.connection() as conn:
        return await domains.noted(conn, found, check)


ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "Show the base URL of links in the project's emails.",
        show,
        response=TrackingDomainStatus,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        f"{PATH}/verify",
        Scope.PROJECT_WRITE,
        "Verify the tracking domain; if it points here, links in emails use it.",
        verify,
        response=TrackingDomainCheck,
        tag=_TAG,
        once=Once.NEVER,
        test_keys=ForTestKeys.REFUSED,
    ),
)

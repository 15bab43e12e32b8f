"""The endpoints of a project's own domain of links in mail."""

from dataclasses import dataclass
from datetime import datetime

from mailqueue.api.http.context import Call
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.deliverability.resolver import Resolver
from mailqueue.tenants.model import Scope
from mailqueue.tracking import domains

PATH = "/v1/tracking-domain"
_TAG = "Tracking"


@dataclass(frozen=True, slots=True)
class ShownDomain:
    """What links in the project's mail begin with; null: nothing, they lead nowhere."""

    links_begin_with: str | None
    domain: str | None
    verified_at: datetime | None


@dataclass(frozen=True, slots=True)
class CheckedDomain:
    """Where a domain leads; `leads_here` null: nobody could say."""

    domain: str
    leads_here: bool | None
    says: str
    found: list[str]
    wanted: list[str]
    publish: str
    verified_at: datetime | None


async def show(call: Call) -> ShownDomain:
    """Show the domain of the project's links."""
    async with call.connection() as conn:
        found = await domains.project_of(conn, call.caller.project)
    base = call.settings.tracking.public_url
    begin = f"https://{found.domain}" if found.checked_at is not None else base
    return ShownDomain(begin, found.domain, found.checked_at)


async def verify(call: Call) -> CheckedDomain:
    """Look the domain up, with no connection held; mail uses it once it leads here."""
    async with call.connection() as conn:
        found = await domains.project_of(conn, call.caller.project)
    check = await domains.look_up(
        found,
        public_url=call.settings.tracking.public_url,
        resolver=Resolver(call.settings.name_servers),
    )
    async with call.connection() as conn:
        check = await domains.noted(conn, found, check)
    return CheckedDomain(
        domain=check.domain,
        leads_here=check.leads_here,
        says=check.says,
        found=list(check.found),
        wanted=list(check.wanted),
        publish=check.publish,
        verified_at=check.verified_at,
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "Show what links in the project's mail begin with.",
        show,
        response=ShownDomain,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        f"{PATH}/verify",
        Scope.PROJECT_WRITE,
        "Look the tracking domain up; if it leads here, links in mail use it.",
        verify,
        response=CheckedDomain,
        tag=_TAG,
        once=Once.NEVER,
        test_keys=ForTestKeys.REFUSED,
    ),
)

"""Endpoints of DKIM keys and DNS checks of domains."""

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.kek_header import own_key_of, platform_key, unlocked
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.domains import DkimKeyDetails, DkimKeyList, DkimVerification, DomainReport
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import checking, keys, publication
from mailqueue.domains.findings import DomainFindings
from mailqueue.domains.model import DkimKey
from mailqueue.domains.resolver import Resolver
from mailqueue.domains.values import key_of, report_of, verification_of
from mailqueue.projects.model import Scope
from mailqueue.tracking import domains

PATH = "/v1/dkim"
ONE = "/v1/dkim/{key_id}"
_TAG = "DKIM"
_ALGORITHM_BY_WORD = {each.key_type: each for each in Algorithm}
Domain = Annotated[str, Field(min_length=1, max_length=300)]


class NewDkimKey(RequestModel):
    """A key for a domain; a domain may have one of each kind."""

    domain: Domain
    """Domain of the From addresses it signs, such as `example.com`."""
    algorithm: Literal["rsa", "ed25519"] = "rsa"
    """Algorithm: every receiver supports `rsa`; `ed25519` has a shorter record. Use one key of
    each.
    """
    selector: Annotated[str, Field(max_length=100)] | None = None
    """Selector in DNS: 1 to 63 lower-case letters, digits and hyphens; generated if omitted."""


class ListQuery(RequestModel):
    """Filters of DKIM keys."""

    domain: Domain | None = None
    """Filter by domain."""


class DomainCheckQuery(RequestModel):
    """The domain to check, and optionally the IP address its mail is sent from."""

    domain: Domain
    """Domain to check, such as `example.com`."""
    ip: Annotated[str, Field(max_length=100)] | None = None
    """IP address mail is sent from; if given, SPF and reverse DNS are checked too."""


async def create(call: RequestContext) -> DkimKeyDetails:
    """Create a key; it is pending until its record is in DNS."""
    body: NewDkimKey = call.body
    algorithm = _ALGORITHM_BY_WORD[body.algorithm]
    domain, master, own = keys.domain_of(body.domain), platform_key(call), own_key_of(call.request)
    made = await keys.new_keys([algorithm])
    async with call.connection() as conn, unlocked(call, own, conn):
        [key] = await keys.create(
            conn,
            call.caller.project,
            domain=domain,
            algorithms=[algorithm],
            selector=body.selector,
            master=master,
            by=call.by,
            made=made,
        )
    return key_of(key)


async def index(call: RequestContext) -> DkimKeyList:
    """List keys."""
    query: ListQuery | None = call.query
    domain = None if query is None or query.domain is None else keys.domain_of(query.domain)
    async with call.connection() as conn:
        found = await keys.list_keys(conn, project=call.caller.project)
    return DkimKeyList([key_of(key) for key in found if domain in (None, key.domain)])


async def show(call: RequestContext) -> DkimKeyDetails:
    """Return a key and its DNS record."""
    return key_of(await _key(call))


async def verify(call: RequestContext) -> DkimVerification:
    """Look a key up in DNS; a pending key whose record is found becomes active."""
    key = await _key(call)
    looked = await publication.look_up([key], Resolver(call.settings.name_servers))
    async with call.connection() as conn:
        [found] = await publication.settle(conn, looked, by=call.by)
    return verification_of(found)


async def rotate(call: RequestContext) -> DkimKeyList:
    """Create a successor for each active key of this key's domain."""
    key, master, own = await _key(call), platform_key(call), own_key_of(call.request)
    made = await keys.new_keys(Algorithm)
    async with call.connection() as conn, unlocked(call, own, conn):
        found = await keys.rotate(
            conn, call.caller.project, domain=key.domain, master=master, by=call.by, made=made
        )
    return DkimKeyList([key_of(each) for each in found])


async def revoke(call: RequestContext) -> DkimKeyDetails:
    """Destroy a private key; the response has the record to publish afterwards."""
    key_id = call.id("key_id")
    async with call.connection() as conn:
        key = await keys.get(conn, call.caller.project, key_id=key_id)
        gone = await keys.revoke(
            conn, call.caller.project, domain=key.domain, selector=key.selector, by=call.by
        )
    return key_of(gone)


async def check(call: RequestContext) -> DomainReport:
    """Check SPF, DKIM, DMARC, MX and links of a domain; for a live key the result is stored."""
    query: DomainCheckQuery = call.query
    domain, project = keys.domain_of(query.domain), call.caller.project
    async with call.connection() as conn:
        mine = await keys.list_keys(conn, project=project)
        links = await domains.project_of(conn, project)
    of_domain = [key for key in mine if key.domain == domain]
    resolver, url = Resolver(call.settings.name_servers), call.settings.tracking.public_url
    findings = await checking.look(
        domain,
        of_domain,
        resolver,
        address=query.ip,
        also=domains.findings_about(domain, links, public_url=url, resolver=resolver),
    )
    report = DomainFindings(project, domain, findings)
    if not call.is_read_only:
        async with call.connection() as conn:
            await checking.record(conn, report)
    return report_of(report)


async def _key(call: RequestContext) -> DkimKey:
    key_id = call.id("key_id")
    async with call.connection() as conn:
        return await keys.get(conn, call.caller.project, key_id=key_id)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Create a DKIM key for a domain; it signs once its record is in DNS.",
        create,
        request=NewDkimKey,
        response=DkimKeyDetails,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        once=Once.APART,
        example={"domain": "example.com"},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List DKIM keys and their records.",
        index,
        query=ListQuery,
        response=DkimKeyList,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        f"{PATH}/check",
        Scope.PROJECT_READ,
        "Check SPF, DKIM, DMARC and MX of a domain, and return the records to publish.",
        check,
        query=DomainCheckQuery,
        response=DomainReport,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        ONE,
        Scope.PROJECT_READ,
        "Show a DKIM key and the record to publish.",
        show,
        response=DkimKeyDetails,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        f"{ONE}/verify",
        Scope.PROJECT_WRITE,
        "Verify a key's DNS record; if it is published, activate the key.",
        verify,
        response=DkimVerification,
        tag=_TAG,
        once=Once.NEVER,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{ONE}/rotate",
        Scope.PROJECT_WRITE,
        "Create a successor for each active key of this key's domain.",
        rotate,
        response=DkimKeyList,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        once=Once.APART,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        ONE,
        Scope.PROJECT_WRITE,
        "Revoke a DKIM key and delete its private key.",
        revoke,
        response=DkimKeyDetails,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
)

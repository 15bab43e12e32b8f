"""Endpoints of the tracking domain of a project, and of the keys that sign its links."""

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.contract.domains import (
    TrackingDomainCheck,
    TrackingDomainStatus,
    TrackingKeyDates,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import Conflict
from mailqueue.domains.resolver import Resolver
from mailqueue.projects.model import Scope
from mailqueue.tracking import domains, keyring
from mailqueue.vault.masterkey import master_key_of

PATH = "/v1/tracking-domain"
KEYS_PATH = "/v1/tracking-keys"
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


async def keys(call: RequestContext) -> Page[TrackingKeyDates]:
    """List the keys, newest first."""
    async with call.connection() as conn:
        return Page(await keyring.keys_of(conn, call.caller.project_id), None)


async def rotate(call: RequestContext) -> Page[TrackingKeyDates]:
    """Sign new links with a new key."""
    master = master_key_of(call.settings)
    if master is None:
        raise Conflict("tracking keys are encrypted, and there is no master key")
    async with call.connection() as conn:
        await keyring.rotate(conn, master, call.caller.project_id, by=call.by)
        return Page(await keyring.keys_of(conn, call.caller.project_id), None)


async def revoke(call: RequestContext) -> TrackingKeyDates:
    """Revoke a key."""
    async with call.connection() as conn:
        return await keyring.revoke(
            conn,
            master_key_of(call.settings),
            call.caller.project_id,
            call.path["tracking_key"],
            by=call.by,
        )


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
    Endpoint(
        "GET",
        KEYS_PATH,
        Scope.PROJECT_READ,
        "List the keys that sign links in the project's emails, newest first.",
        keys,
        response=Page[TrackingKeyDates],
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        f"{KEYS_PATH}/rotate",
        Scope.PROJECT_WRITE,
        "Sign new links with a new key; links already sent work on.",
        rotate,
        response=Page[TrackingKeyDates],
        tag=_TAG,
        description="Running workers use the new key within ten minutes.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        f"{KEYS_PATH}/{{tracking_key}}",
        Scope.PROJECT_WRITE,
        "Revoke a key that was disclosed: links that it signed stop working.",
        revoke,
        response=TrackingKeyDates,
        tag=_TAG,
        description="Links to unsubscribe stop working, too. The key that signs links now is "
        "replaced first. Running workers notice within a minute.",
        test_keys=ForTestKeys.REFUSED,
    ),
)

"""Endpoints of projects that hold the key to their secrets themselves."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.kek_header import (
    KEK,
    NEW_KEK,
    own_key_of,
    platform_key,
    refused_as_header,
    require_key,
)
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.projects import VaultStatus
from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import Scope
from mailqueue.vault import ownkey
from mailqueue.vault.values import status_of

PATH = "/v1/projects/{pid}/byok"
_TAG = "Own keys"
_MAX_SECONDS = int(ownkey.MAX_GRANT.total_seconds())
Seconds = Annotated[int, Field(ge=1, le=_MAX_SECONDS)]


class SetOwnKey(RequestModel):
    """How long the project is unlocked at once; locked if omitted."""

    unlock_for_seconds: Seconds | None = None
    """Seconds from now for which mail is sent; if omitted, mail waits until you unlock."""


class Unlock(RequestModel):
    """How long the project is unlocked from now."""

    for_seconds: Seconds
    """Seconds from now on, up to 366 days; 28800 are eight hours."""


async def show(call: RequestContext) -> VaultStatus:
    """Return who holds the key."""
    async with call.connection() as conn:
        return status_of(
            await ownkey.list_vaults(
                conn, project=call.caller.project, is_read_only=call.is_read_only
            )
        )


async def set_own(call: RequestContext) -> VaultStatus:
    """Encrypt the project's data keys with the key in the header only."""
    body: SetOwnKey = call.body
    own, master = require_key(call.request), platform_key(call)
    lasts = body.unlock_for_seconds
    async with call.connection() as conn:
        with refused_as_header():
            found = await ownkey.set_own(
                conn,
                call.caller.project,
                own=own,
                master=master,
                unlock_for=None if lasts is None else timedelta(seconds=lasts),
                by=call.by,
            )
    return status_of(found)


async def unlock(call: RequestContext) -> VaultStatus:
    """Allow the project's mail to be sent for a time."""
    body: Unlock = call.body
    own, master = require_key(call.request), platform_key(call)
    async with call.connection() as conn:
        with refused_as_header():
            found = await ownkey.unlock(
                conn,
                call.caller.project,
                own=own,
                master=master,
                lasts=timedelta(seconds=body.for_seconds),
                by=call.by,
            )
    return status_of(found)


async def lock(call: RequestContext) -> VaultStatus:
    """Lock the project at once."""
    async with call.connection() as conn:
        return status_of(await ownkey.lock(conn, call.caller.project, by=call.by))


async def rewrap(call: RequestContext) -> VaultStatus:
    """Encrypt the data keys with the new key, or with the platform's again."""
    body: SetOwnKey = call.body
    own, new = require_key(call.request), own_key_of(call.request, NEW_KEK)
    master = platform_key(call)
    if new is not None and new.id == own.id:
        raise InvalidField(NEW_KEK, f"is the key in {KEK}")
    if new is None and body.unlock_for_seconds is not None:
        raise InvalidField("unlock_for_seconds", f"is only allowed with {NEW_KEK}")
    project, lasts = call.caller.project, body.unlock_for_seconds
    async with call.connection() as conn, conn.transaction():
        with refused_as_header():
            found = await ownkey.release(conn, project, own=own, master=master, by=call.by)
        if new is not None:
            found = await ownkey.set_own(
                conn,
                project,
                own=new,
                master=master,
                unlock_for=None if lasts is None else timedelta(seconds=lasts),
                by=call.by,
            )
    return status_of(found)


_DESCRIPTION = ". It is used and not stored: if it is lost, so are the project's secrets."
ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "Show who holds the key to the project's secrets.",
        show,
        response=VaultStatus,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Encrypt the project's secrets with a key of your own.",
        set_own,
        request=SetOwnKey,
        response=VaultStatus,
        tag=_TAG,
        description=_DESCRIPTION,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{PATH}/unlock",
        Scope.PROJECT_WRITE,
        "Unlock the project for a time; afterwards its emails wait.",
        unlock,
        request=Unlock,
        response=VaultStatus,
        tag=_TAG,
        once=Once.NEVER,
        example={"for_seconds": 28_800},
        description=_DESCRIPTION,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{PATH}/lock",
        Scope.PROJECT_WRITE,
        "Lock the project at once.",
        lock,
        response=VaultStatus,
        tag=_TAG,
        once=Once.NEVER,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{PATH}/rewrap",
        Scope.PROJECT_WRITE,
        "Replace the project's own key, or return to the platform's.",
        rewrap,
        request=SetOwnKey,
        response=VaultStatus,
        tag=_TAG,
        description=f"{_DESCRIPTION} With {NEW_KEK} that key replaces the current one; "
        "without it, the platform's key does.",
        test_keys=ForTestKeys.REFUSED,
    ),
)

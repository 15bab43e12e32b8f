"""Endpoints of the infrastructure: its tables, disks and tasks, pausing all sending, drains."""

from typing import Annotated

from pydantic import Field

from mailqueue.admin import infrastructure
from mailqueue.api.emails.schema import Instant
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, EndpointHandler
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.infrastructure import (
    DiskUsage,
    DrainedWorkers,
    MaintenanceRun,
    PlatformPause,
    TablePartition,
)
from mailqueue.contract.page import Page
from mailqueue.operations import platform

PATH = "/admin/infrastructure"


class PausePlatform(StrictRequestModel):
    """A pause of all sending."""

    reason: Annotated[str, Field(min_length=1, max_length=500)]
    """Reason, shown with every email that waits and on every page of the console."""
    until: Instant | None = None
    """End of the pause, RFC 3339 with offset; until it is resumed if omitted."""


class ChooseWorkers(StrictRequestModel):
    """A running worker, or all workers of a host."""

    worker: Annotated[int, Field(ge=1, le=2_147_483_647)] | None = None
    """Id of a worker, as `/admin/workers` lists it."""
    host: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """Name of a host."""


async def partitions(call: RequestContext) -> Page[TablePartition]:
    """List monthly tables."""
    async with call.connection() as conn:
        return Page(await infrastructure.partitions(conn), None)


async def disk(call: RequestContext) -> DiskUsage:
    """Show the disks."""
    async with call.connection() as conn:
        return await infrastructure.disk(conn)


async def tasks(call: RequestContext) -> Page[MaintenanceRun]:
    """List maintenance tasks."""
    async with call.connection() as conn:
        return Page(await infrastructure.tasks(conn), None)


async def show_pause(call: RequestContext) -> PlatformPause:
    """Return whether all sending is paused."""
    async with call.connection() as conn:
        return await platform.state(conn)


async def pause(call: RequestContext) -> PlatformPause:
    """Pause all sending."""
    wanted: PausePlatform = call.body
    async with call.connection() as conn:
        await platform.pause(conn, until=wanted.until, reason=wanted.reason, by=call.by)
        return await platform.state(conn)


async def resume(call: RequestContext) -> PlatformPause:
    """End the pause of all sending."""
    async with call.connection() as conn:
        await platform.resume(conn, by=call.by)
        return await platform.state(conn)


async def drain(call: RequestContext) -> DrainedWorkers:
    """Let workers claim nothing more."""
    wanted: ChooseWorkers = call.body
    async with call.connection() as conn:
        return await platform.drain(conn, worker=wanted.worker, host=wanted.host, by=call.by)


async def resume_workers(call: RequestContext) -> DrainedWorkers:
    """Let drained workers claim again."""
    wanted: ChooseWorkers = call.body
    async with call.connection() as conn:
        return await platform.resume_workers(
            conn, worker=wanted.worker, host=wanted.host, by=call.by
        )


def _endpoint(
    method: str, path: str, summary: str, handler: EndpointHandler, **more: object
) -> Endpoint:
    return Endpoint(
        method,
        PATH + path,
        None,
        summary,
        handler,
        superadmin=True,
        tag="Installation",
        **more,  # type: ignore[arg-type]
    )


ENDPOINTS = (
    _endpoint(
        "GET",
        "/partitions",
        "List the monthly tables.",
        partitions,
        response=Page[TablePartition],
        description="With sizes, and when their rows are archived and the partitions dropped.",
    ),
    _endpoint(
        "GET", "/disk", "Show the size of the database and its disks.", disk, response=DiskUsage
    ),
    _endpoint(
        "GET",
        "/tasks",
        "List maintenance tasks and their last runs.",
        tasks,
        response=Page[MaintenanceRun],
    ),
    _endpoint(
        "GET", "/pause", "Show whether all sending is paused.", show_pause, response=PlatformPause
    ),
    _endpoint(
        "POST",
        "/pause",
        "Pause all sending.",
        pause,
        request=PausePlatform,
        response=PlatformPause,
        description="No worker claims an email until the pause ends. Emails are accepted "
        "meanwhile, and those that workers hold are sent. A pause in force is replaced.",
        example={"reason": "The provider reports an incident"},
    ),
    _endpoint(
        "POST",
        "/resume",
        "Resume all sending.",
        resume,
        response=PlatformPause,
        description="Answers 404 if sending is not paused.",
    ),
    _endpoint(
        "POST",
        "/workers/drain",
        "Drain a worker or a host.",
        drain,
        request=ChooseWorkers,
        response=DrainedWorkers,
        description="The workers finish what they hold and claim nothing more, until they are "
        "resumed or stopped. Give `worker` or `host`. Answers 404 if no running worker that is "
        "not drained is named so.",
        example={"worker": 17},
    ),
    _endpoint(
        "POST",
        "/workers/resume",
        "Resume drained workers.",
        resume_workers,
        request=ChooseWorkers,
        response=DrainedWorkers,
        description="Give `worker` or `host`. Answers 404 if no drained worker is named so.",
        example={"host": "mail2.example.com"},
    ),
)

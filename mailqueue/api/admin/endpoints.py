"""The endpoints of the whole installation, for administrators."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.admin import boards, events, revoking, settings
from mailqueue.admin.events import LogPosition, Search
from mailqueue.api.admin.schema import (
    ChangeFlags,
    ChangeSettings,
    EventsQuery,
    RevokeKeys,
    VerifyQuery,
)
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, EndpointHandler
from mailqueue.api.projects.endpoints import AUDIT_PAGES, named, shown_audit
from mailqueue.api.projects.schema import AuditQuery
from mailqueue.audit import search as audit_search
from mailqueue.audit.verify import verify
from mailqueue.contract.admin import (
    AdminEvent,
    PlatformHealth,
    ProviderBoard,
    QueueBoard,
    RevokedKeys,
    Setting,
    WorkerProcess,
)
from mailqueue.contract.automation.consumers import ConsumerState
from mailqueue.contract.infrastructure import QueueKey
from mailqueue.contract.operations import AuditVerification
from mailqueue.contract.page import Page
from mailqueue.contract.projects import AuditEvent
from mailqueue.core.paging import key_of
from mailqueue.operations import queues
from mailqueue.stream import consumers
from mailqueue.vault.masterkey import master_key_of

PATH = "/admin"
_LONG = timedelta(days=7)


async def show_settings(call: RequestContext) -> Page[Setting]:
    """List the settings."""
    async with call.connection() as conn:
        return Page(await settings.list_all(conn), None)


async def change_settings(call: RequestContext) -> Page[Setting]:
    """Change settings, all or none."""
    wanted: ChangeSettings = call.body
    changes = {name: str(value) for name, value in wanted.settings.items()}
    async with call.connection() as conn:
        return Page(await settings.change(conn, changes, by=call.by), None)


async def show_flags(call: RequestContext) -> Page[Setting]:
    """List the flags."""
    async with call.connection() as conn:
        return Page(await settings.list_flags(conn), None)


async def switch_flags(call: RequestContext) -> Page[Setting]:
    """Switch flags, all or none."""
    wanted: ChangeFlags = call.body
    async with call.connection() as conn:
        return Page(await settings.switch(conn, wanted.flags, by=call.by), None)


async def revoke_keys(call: RequestContext) -> RevokedKeys:
    """Put keys out of force."""
    wanted: RevokeKeys = call.body
    async with call.connection() as conn:
        project = None if wanted.project is None else (await named(conn, wanted.project)).name
        gone = await revoking.revoke(
            conn,
            by=call.by,
            reason=wanted.reason,
            project=project,
            prefix=wanted.prefix,
            key=wanted.key,
            is_all=wanted.all,
        )
    call.runtime.callers.forget()
    return RevokedKeys(len(gone), gone)


async def find_events(call: RequestContext) -> Page[AdminEvent]:
    """Find what happened to mail."""
    query: EventsQuery = call.query
    event_id, attempt_id = key_of(query.cursor, UUID, int)
    until = query.until or datetime.now(UTC)
    async with call.connection() as conn:
        only = None if query.project is None else (await named(conn, query.project)).id
        wanted = Search(
            since=query.since or until - _LONG,
            until=until,
            project_id=only,
            type=query.type,
            recipient=query.recipient,
        )
        found = await events.search(
            conn, wanted, after=LogPosition(event_id, attempt_id), limit=query.limit
        )
    return found.shown()


async def audit_log(call: RequestContext) -> Page[AuditEvent]:
    """List what was changed anywhere, newest first."""
    query: AuditQuery = call.query
    (before,) = key_of(query.cursor, int)
    async with call.connection() as conn:
        found = await audit_search.search(
            conn, query.search(None), before=before, limit=query.limit
        )
    return shown_audit(found)


async def verify_audit_log(call: RequestContext) -> AuditVerification:
    """Compare the audit log with its seals."""
    query: VerifyQuery = call.query
    master = master_key_of(call.settings)
    async with call.connection() as conn:
        return await verify(conn, master, known_head=query.head)


async def queue(call: RequestContext) -> QueueBoard:
    """Show what waits."""
    async with call.connection() as conn:
        return await boards.queue(conn)


async def queue_keys(call: RequestContext) -> Page[QueueKey]:
    """List keys of queues that are in trouble."""
    async with call.connection() as conn:
        return Page(await queues.keys(conn), None)


async def list_consumers(call: RequestContext) -> Page[ConsumerState]:
    """List consumers of the stream of events."""
    async with call.connection() as conn:
        return Page(await consumers.list_all(conn), None)


async def workers(call: RequestContext) -> Page[WorkerProcess]:
    """List workers."""
    async with call.connection() as conn:
        return Page(await boards.workers(conn), None)


async def providers(call: RequestContext) -> Page[ProviderBoard]:
    """List sender accounts."""
    async with call.connection() as conn:
        return Page(await boards.providers(conn), None)


async def health(call: RequestContext) -> PlatformHealth:
    """Return how everything is."""
    async with call.connection() as conn:
        checks = await boards.health(conn)
    return boards.health_of(checks)


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
    _endpoint("GET", "/settings", "List settings.", show_settings, response=Page[Setting]),
    _endpoint(
        "PUT",
        "/settings",
        "Change settings.",
        change_settings,
        request=ChangeSettings,
        response=Page[Setting],
        description="Changes all settings given, or none if one is invalid. Effective at once.",
        example={"settings": {"max_send_rate": 200, "max_attachment_bytes": "10 MB"}},
    ),
    _endpoint("GET", "/flags", "List flags.", show_flags, response=Page[Setting]),
    _endpoint(
        "PUT",
        "/flags",
        "Change flags.",
        switch_flags,
        request=ChangeFlags,
        response=Page[Setting],
        example={"flags": {"accept_mail": False}},
    ),
    _endpoint(
        "POST",
        "/keys/revoke",
        "Revoke API keys of any project.",
        revoke_keys,
        request=RevokeKeys,
        response=RevokedKeys,
        description="Revokes the keys that match all given fields: a project, the first "
        "characters, or one whole key. Without any of them `all` is required.",
        example={"project": "simplify-hiring", "reason": "A laptop was stolen"},
    ),
    _endpoint(
        "GET",
        "/events",
        "List events of emails in all projects.",
        find_events,
        query=EventsQuery,
        response=Page[AdminEvent],
        description="Events and attempts to send, newest first; of the last seven days unless "
        "`since` is given.",
    ),
    _endpoint(
        "GET",
        "/audit-log",
        "List the audit log of all projects.",
        audit_log,
        query=AuditQuery,
        response=Page[AuditEvent],
        description=AUDIT_PAGES,
    ),
    _endpoint(
        "GET",
        "/audit-log/verify",
        "Verify the audit log.",
        verify_audit_log,
        query=VerifyQuery,
        response=AuditVerification,
        description="Compares every row with its seal, as `mailqueue verify` does. `faults` names "
        "rows that were changed, deleted or added, and is empty where there are none; `why_not` is "
        "set where the log could not be verified, such as without a master key. Reads the whole "
        "log: about two minutes for a million rows.",
    ),
    _endpoint(
        "GET", "/queue", "Show queued emails, and why they wait.", queue, response=QueueBoard
    ),
    _endpoint(
        "GET",
        "/queue/keys",
        "List keys of queues that are in trouble.",
        queue_keys,
        response=Page[QueueKey],
        description="Endpoints of webhooks and providers of channels that failed or asked for a "
        "pause, with the circuit and the last error. A key that is well is not listed.",
    ),
    _endpoint(
        "GET",
        "/consumers",
        "List consumers of the stream of events.",
        list_consumers,
        response=Page[ConsumerState],
        description="How far each has read, what it has not handled, and why. Events are handled "
        "again by `mailqueue consumers replay`.",
    ),
    _endpoint("GET", "/workers", "List workers.", workers, response=Page[WorkerProcess]),
    _endpoint(
        "GET",
        "/providers",
        "List sender accounts and their health.",
        providers,
        response=Page[ProviderBoard],
    ),
    _endpoint(
        "GET", "/health", "Show the health of the installation.", health, response=PlatformHealth
    ),
)

"""Administration as rows; the only file here that runs SQL."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.admin.model import PlatformEvent
from mailqueue.contract.admin import (
    Administrator,
    Flow,
    HealthCheck,
    ProviderBoard,
    QueueLane,
    QueueState,
    RevokedKey,
    Setting,
    StatusCount,
    WorkerProcess,
)
from mailqueue.contract.infrastructure import (
    DiskUsage,
    FreeSpace,
    MaintenanceRun,
    ReplicationSlot,
    TablePartition,
    TableSize,
)
from mailqueue.contract.projects import ProjectRetention
from mailqueue.db.fetch import Conn, many, maybe, one, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import admin as admin_sql
from mailqueue.db.statements import infrastructure as infrastructure_sql


async def add_administrator(
    conn: Conn, name: str, *, token_hash: bytes, hint: str, expires_at: datetime | None, by: str
) -> UUID:
    """Insert an administrator.

    Raises:
        InvalidField: the name is empty or in use, or `expires_at` lies in the past.
    """
    params = {"name": name, "hash": token_hash, "hint": hint, "expires_at": expires_at, "by": by}
    with refusals(otherwise=""):
        return await value(conn, admin_sql.ADD_ADMINISTRATOR, params, UUID)


async def revoke_administrator(conn: Conn, name: str, *, by: str) -> bool:
    """Revoke a token; return False where no active one has that name."""
    return await value(conn, admin_sql.REVOKE_ADMINISTRATOR, {"name": name, "by": by}, bool)


async def find_administrator(conn: Conn, token_hash: bytes) -> str | None:
    """Return the name of the administrator whose active token has that hash."""
    return await maybe(conn, admin_sql.FIND_ADMINISTRATOR, {"hash": token_hash}, str)


async def list_administrators(conn: Conn) -> list[Administrator]:
    """Return administrators, newest first."""
    return await many(conn, admin_sql.LIST_ADMINISTRATORS, None, Administrator)


async def list_settings(conn: Conn) -> list[Setting]:
    """Return settings and flags by name."""
    return await many(conn, admin_sql.LIST_SETTINGS, None, Setting)


async def change_setting(conn: Conn, name: str, *, to: str, by: str) -> bool:
    """Change a setting or flag; return False where it had that value.

    Raises:
        InvalidField: the setting is unknown, or the value is invalid.
    """
    with refusals(otherwise=""):
        return await value(
            conn, admin_sql.CHANGE_SETTING, {"name": name, "value": to, "by": by}, bool
        )


async def revoke_keys(
    conn: Conn,
    *,
    project: str | None,
    prefix: str | None,
    key_hash: bytes | None,
    reason: str | None,
    by: str,
) -> list[RevokedKey]:
    """Revoke keys; return them.

    Raises:
        InvalidField: there is no such project, or the reason is too long.
    """
    params = {"project": project, "prefix": prefix, "hash": key_hash, "reason": reason, "by": by}
    with refusals(otherwise=""):
        return await many(conn, admin_sql.REVOKE_KEYS, params, RevokedKey)


async def search_events(
    conn: Conn,
    *,
    project_id: UUID | None,
    type: str | None,
    recipient: str | None,
    since: datetime,
    until: datetime,
    before_event: UUID | None,
    before_attempt: int | None,
    limit: int,
) -> list[PlatformEvent]:
    """Return events, then attempts, each newest first, up to `limit` of each."""
    params = {
        "project_id": project_id,
        "type": type,
        "recipient": recipient,
        "since": since,
        "until": until,
        "before_event": before_event,
        "before_attempt": before_attempt,
        "most": limit,
    }
    return await many(conn, admin_sql.SEARCH_EVENTS, params, PlatformEvent)


async def queue_board(conn: Conn) -> list[QueueLane]:
    """Return lanes with unfinished mail, most urgent first."""
    return await many(conn, admin_sql.LIST_QUEUE_BOARD, None, QueueLane)


async def queue_states(conn: Conn) -> list[QueueState]:
    """Return the state of each queue besides mail."""
    return await many(conn, admin_sql.LIST_QUEUE_STATES, None, QueueState)


async def outcome_board(conn: Conn) -> list[StatusCount]:
    """Return the number of mails by status."""
    return await many(conn, admin_sql.COUNT_OUTCOME_BOARD, None, StatusCount)


async def flow_board(conn: Conn) -> list[Flow]:
    """Return the results of attempts in the last minute, five minutes and hour."""
    return await many(conn, admin_sql.LIST_FLOW_BOARD, None, Flow)


async def worker_board(conn: Conn) -> list[WorkerProcess]:
    """Return workers, newest first."""
    return await many(conn, admin_sql.LIST_WORKER_BOARD, None, WorkerProcess)


async def provider_board(conn: Conn) -> list[ProviderBoard]:
    """Return sender accounts, those that need attention first."""
    return await many(conn, admin_sql.LIST_PROVIDER_BOARD, None, ProviderBoard)


async def health_board(conn: Conn) -> list[HealthCheck]:
    """Return the results of the health checks."""
    return await many(conn, admin_sql.LIST_HEALTH_BOARD, None, HealthCheck)


async def project_retention(conn: Conn, project_id: UUID) -> list[ProjectRetention]:
    """Return how long each kind of record of a project is kept."""
    return await many(
        conn, admin_sql.LIST_PROJECT_RETENTION, {"project_id": project_id}, ProjectRetention
    )


async def partition_board(conn: Conn) -> list[TablePartition]:
    """Return the monthly tables, oldest first."""
    return await many(conn, infrastructure_sql.LIST_PARTITION_BOARD, None, TablePartition)


async def disk_board(conn: Conn, *, tables: int) -> DiskUsage:
    """Return the size of the database, what is left of its disks, and so many tables by size."""
    sizes = await one(conn, infrastructure_sql.READ_DISK_BOARD, None, _DatabaseSize)
    return DiskUsage(
        sizes.database_bytes,
        sizes.size_limit_bytes,
        await many(conn, infrastructure_sql.LIST_SPACE_BOARD, None, FreeSpace),
        await many(conn, infrastructure_sql.LIST_SLOT_BOARD, None, ReplicationSlot),
        await many(conn, infrastructure_sql.LIST_TABLE_BOARD, {"limit": tables}, TableSize),
    )


async def task_board(conn: Conn) -> list[MaintenanceRun]:
    """Return the maintenance tasks, by name."""
    return await many(conn, infrastructure_sql.LIST_TASK_BOARD, None, MaintenanceRun)


class _DatabaseSize(NamedTuple):
    database_bytes: int | None
    size_limit_bytes: int | None

"""The task `keys`: revoke expired API keys, and report those that expire soon."""

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import TaskReport
from mailqueue.maintenance.store import tasks as tasks_store

SOON_DAYS = 14


async def run(context: MaintenanceContext) -> TaskReport:
    """Revoke expired keys. They were refused before: revoking writes the audit event."""
    over = await tasks_store.expire_api_keys(context.conn, by=context.operator)
    soon = await tasks_store.expiring_keys(context.conn, days=SOON_DAYS)
    said = f"{len(over)} keys expired"
    if over:
        said += f" ({', '.join(f'{each.project}/{each.name}' for each in over)})"
    if soon:
        said += f", {len(soon)} expire within {SOON_DAYS} days: " + ", ".join(
            f"{each.project}/{each.name} on {each.expires_at:%Y-%m-%d}" for each in soon
        )
    return TaskReport(said, {"expired": len(over), "soon": len(soon)})

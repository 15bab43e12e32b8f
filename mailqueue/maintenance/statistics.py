"""The tasks `analyze` and `vacuum`: planner statistics, and advice on dead rows."""

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import TaskReport, VacuumNeed
from mailqueue.maintenance.store import tasks as tasks_store

MANY_DEAD = 100_000
OLD_AGE = 1_000_000_000
"""Transaction ID age that is reported; PostgreSQL stops at 2,000 million, autovacuum acts at 200
million.
"""
HOLD_SECONDS = 1800.0
"""Age of a transaction that is reported, in seconds: it keeps dead rows everywhere."""


async def analyze(context: MaintenanceContext) -> TaskReport:
    """Analyze changed tables; autovacuum does not analyze partitioned ones."""
    tables = await tasks_store.changed_tables(context.conn)
    done = [name for name in tables if await tasks_store.analyze(context.conn, name)]
    left = len(tables) - len(done)
    said = f"{len(done)} tables analyzed" + (f", {left} were locked: next time" if left else "")
    return TaskReport(said, {"tables": len(done), "locked": left})


async def advise(context: MaintenanceContext, *, hold_seconds: float = HOLD_SECONDS) -> TaskReport:
    """Report what keeps dead rows, and the tables that need a vacuum. Nothing is vacuumed here."""
    found = await tasks_store.vacuum_needs(context.conn, dead=MANY_DEAD, age=OLD_AGE)
    holders = await tasks_store.horizon_holders(context.conn, seconds=hold_seconds)
    needs = [f"dead rows cannot be removed: {holder}" for holder in holders]
    needs += [_advice(need) for need in found if need.age > OLD_AGE or not holders]
    counts = {"tables": len(found), "holders": len(holders)}
    return TaskReport(f"{len(found)} tables need vacuuming", counts, tuple(needs))


def _advice(need: VacuumNeed) -> str:
    """Return the advice for a table. Pure."""
    if need.age > OLD_AGE:
        return (
            f"{need.name}: its oldest transaction ID is {need.age} back, and autovacuum does "
            f"not keep up: VACUUM (FREEZE) mailqueue.{need.name}"
        )
    return (
        f"{need.name} has {need.dead} dead rows beside {need.live} live ones: VACUUM (ANALYZE) "
        f"mailqueue.{need.name}, and check that autovacuum is on and fast enough"
    )

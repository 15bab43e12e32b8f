"""Finds queues that the login of this process may not work on."""

from collections.abc import Mapping, Sequence

from mailqueue.core.errors import ConfigError, DatabaseUnavailable, MailqueueError
from mailqueue.core.queues.registry import UPKEEP, queue_named
from mailqueue.db.fetch import Conn
from mailqueue.db.reported import reported
from mailqueue.db.roles import check_owner
from mailqueue.queue import store
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)


async def not_permitted(database: DatabaseSettings, queues: Sequence[str]) -> dict[str, str]:
    """Return those of the queues whose rows this login may not handle, each with the reason.

    A process that registered for them would hide from `doctor` and the alerts that no worker does
    their work.

    Raises:
        DatabaseUnavailable: PostgreSQL cannot be asked.
    """
    names = [name for name in queues if queue_named(name).acts_as_owner]
    if not names:
        return {}
    try:
        with reported(database):
            await check_owner(database)
    except DatabaseUnavailable:
        raise
    except MailqueueError as exc:
        return dict.fromkeys(names, str(exc))
    return {}


async def check_permitted(database: DatabaseSettings, queues: Sequence[str]) -> None:
    """Refuse to work on queues when the login may not work on all of them.

    Raises:
        ConfigError: it may not; the message names one and what gives the right.
        DatabaseUnavailable: PostgreSQL cannot be asked.
    """
    _refuse(await not_permitted(database, queues))


async def permitted(database: DatabaseSettings, queues: Sequence[str]) -> tuple[str, ...]:
    """Return the queues that the login may work on, and log the others.

    Raises:
        ConfigError: it may work on none of them.
        DatabaseUnavailable: PostgreSQL cannot be asked.
    """
    refused = await not_permitted(database, queues)
    found = tuple(queue for queue in queues if queue not in refused)
    if not found:
        _refuse(refused)
    for queue, reason in refused.items():
        log.warning("worker.not_permitted", queue=queue, reason=reason)
    return found


class UpkeepSearch:
    """Finds queues that the parent of a worker takes care of; remembers which it has logged."""

    def __init__(self, database: DatabaseSettings) -> None:
        self._database = database
        self._logged = set[str]()

    async def due(self, conn: Conn) -> list[str]:
        """Return upkeep queues with due rows that no process works on, and that the login may.

        A queue that it may not work on is logged once while it has due rows, which `doctor` and the
        alerts then report.
        """
        names = await store.unattended(conn, UPKEEP)
        refused = await not_permitted(self._database, names)
        for queue, reason in refused.items():
            if queue not in self._logged:
                log.warning("worker.not_permitted", queue=queue, reason=reason)
        self._logged = set(refused)
        return [name for name in names if name not in refused]


def _refuse(refused: Mapping[str, str]) -> None:
    for queue, reason in refused.items():
        raise ConfigError(f"this login may not work on queue {queue}: {reason}")

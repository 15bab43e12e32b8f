"""Listens for NOTIFY on one channel, over its own connection."""

from collections.abc import AsyncIterator

from psycopg import InterfaceError, OperationalError, sql

from mailqueue.core.errors import Unavailable
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings


class NotificationListener:
    """A listener on one channel; `is_listening` is true while notifications are received."""

    def __init__(self, settings: DatabaseSettings, channel: str) -> None:
        self._settings = settings
        self._channel = channel
        self.is_listening = False

    async def rings(self) -> AsyncIterator[None]:
        """Yield once per notification.

        Raises:
            Unavailable: the connection to the server is lost.
        """
        name = "mailqueue/listen"
        try:
            async with connect(self._settings.for_sessions, application_name=name) as conn:
                await conn.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
                self.is_listening = True
                async for _ in conn.notifies():
                    yield None
        except (OperationalError, InterfaceError) as exc:
            raise Unavailable("the connection to the database was lost while listening") from exc
        finally:
            self.is_listening = False

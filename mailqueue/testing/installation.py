"""Prepares a test database: the schema, and a sender account that mail is never sent by."""

import asyncio

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.migrate import migrate
from mailqueue.db.pool import connect
from mailqueue.db.statements import testing as sql
from mailqueue.senders import accounts
from mailqueue.senders.model import NewSender
from mailqueue.settings.environment import DatabaseSettings

ACCOUNT = "mailqueue-testing"
"""Name of the sender account, by which a test database is known."""
PROJECT = "default"
_SERVER = "smtp.example.com"


def install(url: str) -> None:
    """Install the schema in a test database, or bring it up to date; `url` is for libpq.

    Project `default` gets the sender account `mailqueue-testing`, so that mail can be claimed.

    Raises:
        ConfigError: the database has mail or sender accounts, and was not installed by this: it is
            no test database.
        Unavailable: it cannot be reached, or the login may not create roles.
    """
    asyncio.run(install_async(url))


async def install_async(url: str) -> None:
    """Install as `install` does."""
    settings = DatabaseSettings(Secret(url))
    await migrate(settings)
    async with connect(settings, application_name="mailqueue/testing") as conn:
        if await is_installed(conn):
            return
        if await fetch.value(conn, sql.HAS_MAIL_OR_ACCOUNTS, {}, bool):
            raise ConfigError(
                "this database has mail or sender accounts that mailqueue.testing did not make: "
                "give install() the URL of a database for tests"
            )
        new = NewSender(name=ACCOUNT, email="testing@example.com", host=_SERVER)
        await accounts.add(conn, new, project=PROJECT, master=None)


async def is_installed(conn: Conn) -> bool:
    """Return whether a database was prepared for tests."""
    return await fetch.value(conn, sql.HAS_SENDER_ACCOUNT_NAMED, {"name": ACCOUNT}, bool)

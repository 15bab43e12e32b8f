"""A console with a host name, and what its pages and their script do with passkeys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.passkeys.authenticator import Authenticator
from tests.console.visiting import Visiting, Visitor, visiting

HOST = "console.example.com"
URL = f"https://{HOST}"
ACCOUNT = "/console/account"
PASSKEYS = f"{ACCOUNT}/passkeys"
ADD, REMOVE = f"{PASSKEYS}/add", f"{PASSKEYS}/remove"
LOG_IN = "/console/login/passkey"
CONFIRM = "/console/confirm"
CONFIRM_WITH = f"{CONFIRM}/passkey"
LAPSED = "UPDATE mailqueue.console_challenges SET ends_at = now() - interval '1 s'"


@asynccontextmanager
async def with_host(database: DatabaseSettings, **options: Any) -> AsyncIterator[Visiting]:
    async with visiting(database, console_url=URL, **options) as console:
        yield console


def device(**changes: Any) -> Authenticator:
    return Authenticator(URL, HOST).but(**changes)


@asynccontextmanager
async def browser(console: Visiting, *, address: str = "127.0.0.1") -> AsyncIterator[Visitor]:
    async with console.visitor(origin=URL, address=address) as visitor:
        yield visitor


async def asked(visitor: Visitor, path: str, *, status: int = 200) -> dict[str, Any]:
    """Return what the script of a page is given for the browser."""
    token = visitor.token(f"{path}/begin") if "login" not in path else ""
    response = await visitor.post(f"{path}/begin", {"token": token})
    assert response.status_code == status, response.text
    return dict(response.json()) if status == 200 else {}


async def answered(visitor: Visitor, path: str, answer: str, **fields: str) -> httpx2.Response:
    """Send the answer of a device with its form."""
    token = visitor.token(path) if "login" not in path else ""
    return await visitor.post(path, {"token": token, "credential": answer} | fields)


async def added(visitor: Visitor, name: str = "laptop", **changes: Any) -> Authenticator:
    """Add a passkey of the user who is logged in."""
    made, answer = device(**changes).make(await asked(visitor, ADD))
    response = await answered(visitor, ADD, answer, name=name)
    assert response.headers["location"] == f"{PASSKEYS}?done=added", response.text
    return made


async def of_new_user(console: Visiting, name: str = "ann", **changes: Any) -> Authenticator:
    """Add a user with a passkey."""
    await console.add_user(name, origin=URL)
    async with browser(console) as visitor:
        await visitor.log_in(name)
        made = await added(visitor, **changes)
    async with console.connection() as conn:
        await conn.execute("DELETE FROM mailqueue.console_attempts")
    return made


async def log_in(visitor: Visitor, passkey: Authenticator) -> httpx2.Response:
    """Log in with a passkey that has counted once more."""
    options = await asked(visitor, LOG_IN)
    return await answered(visitor, LOG_IN, passkey.but(count=passkey.count + 1).sign(options))


async def is_logged_in(visitor: Visitor) -> bool:
    return (await visitor.get(ACCOUNT)).status_code == 200


async def audited(console: Visiting) -> list[tuple[str, str, dict[str, Any]]]:
    """Return what the audit log has of passkeys: by whom, action and details."""
    async with console.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT actor, action, coalesce(detail, '{}') FROM mailqueue.audit_events"
            " WHERE action ~ 'passkey|second_factor' ORDER BY id",
        )
    return [(row[0], row[1], row[2]) for row in rows]

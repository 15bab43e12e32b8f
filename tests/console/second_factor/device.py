"""A user's device: pyotp reads what the page of a new secret says, as an app does."""

import re
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pyotp

from mailqueue.settings.environment import DatabaseSettings
from tests.console.visiting import Visiting, Visitor, visiting

ACCOUNT = "/console/account"
PAGE = f"{ACCOUNT}/second-factor"
ON, OFF, CODES = f"{PAGE}/on", f"{PAGE}/off", f"{PAGE}/codes"
PICTURE = f"{ON}/qr"
LOGIN, CODE = "/console/login", "/console/login/code"
CONFIRM = "/console/confirm"
MASTER = b64encode(bytes(range(32))).decode()
_SHOWN = re.compile(r"<code>([^<]+)</code>")


@dataclass(slots=True)
class Device:
    """The app of a user, and the recovery codes that the user has kept."""

    app: pyotp.TOTP
    recovery: list[str]

    def code(self, *, later: int = 0) -> str:
        """Return the code of now, or of some time steps later."""
        return self.app.at(int(time.time()) + 30 * later)

    def wrong_code(self) -> str:
        """Return a code that is none of those that count now or soon."""
        right = {self.code(later=step) for step in range(-2, 4)}
        return next(text for text in map("{:06}".format, range(10)) if text not in right)


def shown_on(html: str) -> list[str]:
    """Return the lines of what a page shows to be copied."""
    found = _SHOWN.search(html)
    assert found is not None, html
    return found[1].splitlines()


async def turn_on(visitor: Visitor, page: str = PAGE) -> Device:
    """Turn on the second factor of a user who is logged in."""
    begun = await visitor.submit(page, f"{PAGE}/begin")
    assert begun.headers["location"] == ON, begun.text
    (secret,) = shown_on((await visitor.get(ON)).text)
    device = Device(pyotp.TOTP(secret.replace(" ", "")), [])
    done = await visitor.submit(ON, ON, code=device.code())
    assert done.status_code == 200, done.text
    device.recovery = shown_on(done.text)
    return device


async def added(console: Visiting, name: str = "ann", *grant: str) -> Device:
    """Add a user who has turned on a second factor."""
    await console.add_user(name, *grant)
    async with console.visitor() as visitor:
        await visitor.log_in(name)
        device = await turn_on(visitor)
        await visitor.submit(ACCOUNT, "/console/logout")
    await forget(console)
    return device


async def forget(console: Visiting) -> None:
    """Forget which codes were used, and how many attempts there were, as after some time."""
    async with console.connection() as conn:
        await conn.execute("UPDATE mailqueue.console_second_factors SET last_step = 0")
        await conn.execute("DELETE FROM mailqueue.console_attempts")


async def log_in(visitor: Visitor, code: str, *, name: str = "ann") -> httpx2.Response:
    """Log in with the password and then a code."""
    asked = await visitor.log_in(name)
    assert asked.headers["location"].startswith(CODE), asked.headers
    assert "mailqueue_session" not in asked.cookies
    return await visitor.post(CODE, {"code": code})


async def is_logged_in(visitor: Visitor) -> bool:
    return (await visitor.get(ACCOUNT)).status_code == 200


@asynccontextmanager
async def with_key(database: DatabaseSettings, **options: Any) -> AsyncIterator[Visiting]:
    """A console with a master key."""
    async with visiting(database, master_key=MASTER, **options) as console:
        yield console

"""Codes are slowed, and a confirmation needs password and code."""

import pytest

from tests.console.second_factor.device import (
    ACCOUNT,
    CONFIRM,
    Device,
    added,
    forget,
    log_in,
)
from tests.console.visiting import PASSWORD, Visiting, Visitor

pytestmark = pytest.mark.anyio


async def test_codes_are_slowed_for_the_user_but_not_in_a_known_browser_or_for_recovery(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    device = await added(console)
    async with console.visitor() as known:
        await log_in(known, device.code())
        await known.submit(ACCOUNT, "/console/logout")
        await forget(console)
        statuses = []
        monkeypatch.setattr("mailqueue.admin.users.attempts.asyncio.sleep", sleep)
        for number in range(14):
            # From many networks: it is the user who is counted.
            async with console.visitor(address=f"192.0.2.{number}") as attacker:
                response = await log_in(attacker, device.wrong_code())
                statuses.append(response.status_code)
        async with console.visitor(address="192.0.2.99") as visitor:
            refused = await log_in(visitor, device.code())
            recovered = await log_in(visitor, device.recovery[0])
        right = await log_in(known, device.code())

    assert statuses == [401] * 10 + [429] * 4
    assert waits == [], "a code that is guessed does not wait, it is refused"
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "300")
    assert (recovered.status_code, right.status_code) == (303, 303)


async def confirmed(visitor: Visitor, device: Device, password: str, code: str) -> tuple[int, str]:
    response = await visitor.submit(CONFIRM, CONFIRM, password=password, code=code)
    return response.status_code, response.text.partition('role="alert">')[2].partition("</p>")[0]


async def test_a_confirmation_needs_both_and_does_not_say_which_was_wrong(
    console: Visiting,
) -> None:
    device = await added(console)
    async with console.visitor() as visitor, console.connection() as conn:
        await log_in(visitor, device.code())
        await forget(console)
        await conn.execute(console.unconfirmed("ann"))
        refused = [
            await confirmed(visitor, device, "not the password", device.code()),
            await confirmed(visitor, device, PASSWORD, device.wrong_code()),
            await confirmed(visitor, device, PASSWORD, ""),
            await confirmed(visitor, device, "not the password", device.wrong_code()),
        ]
        still = (await visitor.get("/console/users/add")).status_code
        page = (await visitor.get(CONFIRM)).text
        code = device.code()
        right = await confirmed(visitor, device, PASSWORD, code)
        after = (await visitor.get("/console/users/add")).status_code
        await conn.execute(console.unconfirmed("ann"))
        replayed = await confirmed(visitor, device, PASSWORD, code)

    assert len(set(refused)) == 1
    assert refused[0][0] == 422
    assert "not your password, or the code is wrong" in refused[0][1]
    assert 'name="code"' in page
    assert (still, right, after) == (303, (303, ""), 200)
    assert replayed == refused[0]

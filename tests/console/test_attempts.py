"""Attempts to log in: slowed, never locked out, and refused from other sites."""

import asyncio

import pytest

from mailqueue.admin.users import attempts
from tests.console.visiting import ORIGIN, PASSWORD, Visiting

pytestmark = pytest.mark.anyio

EMAILS = "/console/projects/default/emails"
HTTPS = "https://console.example.com"


async def test_attempts_are_slowed_and_never_lock_out_the_right_password(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await console.add_user("ann")
    async with (
        console.visitor(address="192.0.2.7") as attacker,
        console.visitor(address="192.0.2.7") as colleague,
        console.visitor(address="192.0.2.8") as elsewhere,
    ):
        assert (await colleague.log_in("ann")).status_code == 303
        statuses = [(await attacker.log_in("ann", f"wrong {n}")).status_code for n in range(40)]
        waited = len(waits)
        known = await colleague.log_in("ann")
        other = await elsewhere.log_in("ann")
        retry = await attacker.log_in("ann", "wrong")

    slowed = attempts.PASSWORDS.burst
    assert statuses[: slowed - 1] == [401] * (slowed - 1)
    assert set(statuses) == {401, 429}
    assert statuses[-1] == 429
    assert waited > 0
    assert max(waits) <= attempts.WAIT_SECONDS + attempts.PASSWORDS.seconds
    assert (known.status_code, other.status_code) == (303, 303)
    assert len(waits) == waited, "neither had to wait"
    assert int(retry.headers["retry-after"]) >= 1


async def test_an_attempt_that_waits_for_its_turn_succeeds_with_the_right_password(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sleep(seconds: float) -> None:
        assert 0 < seconds <= attempts.WAIT_SECONDS

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await console.add_user("ann")
    async with console.visitor(address="192.0.2.9") as visitor:
        for number in range(attempts.PASSWORDS.burst + 2):
            await visitor.log_in("ann", f"wrong {number}")
        response = await visitor.log_in("ann")

    assert response.status_code == 303


async def test_an_unknown_name_is_refused_like_a_wrong_password(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor:
        unknown = await visitor.log_in("nobody", "x" * 20)
        wrong = await visitor.log_in("ann", "x" * 20)

    assert unknown.status_code == wrong.status_code == 401
    assert unknown.text.replace("nobody", "ann") == wrong.text


async def test_hostile_names_and_passwords_are_refused_and_shown_as_text(
    console: Visiting,
) -> None:
    hostile = '"><script>alert(1)</script>'
    async with console.visitor() as visitor:
        for name in (hostile, "a\0b", "x" * 5_000, "", " ", "\ud800".encode("utf-8", "replace")):
            text = name if isinstance(name, str) else name.decode()
            response = await visitor.log_in(text, "p\0" * 50)
            assert response.status_code == 401
            assert "<script>alert" not in response.text


async def test_a_form_from_another_site_begins_no_session(console: Visiting) -> None:
    await console.add_user("ann")
    fields = {"name": "ann", "password": PASSWORD}
    async with console.visitor() as visitor:
        for headers in (
            {"Origin": "https://evil.example.com"},
            {"Origin": "null"},
            {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
            {"Origin": ORIGIN, "Sec-Fetch-Site": "same-site"},
        ):
            response = await visitor.http.post("/console/login", data=fields, headers=headers)
            assert response.status_code == 403
            assert "set-cookie" not in response.headers
        bare = await visitor.http.post("/console/login", data=fields)

    assert bare.status_code == 403

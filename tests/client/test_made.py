"""The client without asyncio is made from the one with it."""

import pytest

from tests.client.made import UPDATE, differing, name_of, synchronous


def test_the_synchronous_client_is_what_is_made_of_the_other() -> None:
    assert differing() == [], f"run: {UPDATE}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AsyncSchedules", "Schedules"),
        ("AsyncIterator", "Iterator"),
        ("AsyncClient", "Client"),
        ("Client", "SyncClient"),
        ("__aenter__", "__enter__"),
        ("aclose", "close"),
        ("answers", "answers"),
        ("Async", "Async"),
    ],
)
def test_names_are_those_of_the_other_client(name: str, expected: str) -> None:
    assert name_of(name) == expected


def test_nothing_waits_in_what_is_made() -> None:
    text = "async def f(a):\n    async with a as b:\n        return await b.g()\n"

    assert synchronous(text) == "def f(a):\n    with a as b:\n        return b.g()\n"

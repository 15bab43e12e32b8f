"""Rates of all projects: valid values, and who may set them."""

import pytest

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.units import parse_rate
from mailqueue.db.fetch import Conn
from mailqueue.senders import rates
from tests import make

pytestmark = pytest.mark.anyio


async def test_the_last_to_name_a_rate_for_all_wins_and_who_names_none_changes_nothing(
    conn: Conn,
) -> None:
    for rate in (50.0, 20.0, None):
        await rates.keep_max_send_rate(conn, rate)

    (found,) = await rates.list_rates(conn)

    assert (found.holds_for, found.rate_per_second, found.used_up_until) == ("all mail", 20, None)


async def test_a_rate_of_0_for_all_is_none(conn: Conn) -> None:
    await rates.keep_max_send_rate(conn, 50)
    await rates.keep_max_send_rate(conn, 0)

    assert await rates.list_rates(conn) == []


async def test_a_domains_rate_is_set_changed_and_lifted(conn: Conn) -> None:
    await rates.set_domain_rate(conn, "@Example.COM", rate=5, burst=None, note="slow")
    await rates.set_domain_rate(conn, "example.com", rate=2, burst=9, note=None)

    (found,) = await rates.list_rates(conn)
    assert (found.holds_for, found.rate_per_second, found.burst, found.note) == (
        "example.com", 2, 9, None
    )  # fmt: skip

    await rates.lift_domain_rate(conn, "example.com")
    assert await rates.list_rates(conn) == []
    with pytest.raises(NotFound):
        await rates.lift_domain_rate(conn, "example.com")


async def test_a_rate_that_is_already_so_is_no_change(conn: Conn) -> None:
    for _ in range(3):
        await rates.set_domain_rate(conn, "example.com", rate=5, burst=None, note=None)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.audit_events") == 1


@pytest.mark.parametrize(
    ("domain", "rate", "burst", "field"),
    [
        ("ann@example.com", 5, None, "domain"),
        ("", 5, None, "domain"),
        ("a b", 5, None, "domain"),
        ("example.com", 0, None, "rate"),
        ("example.com", float("nan"), None, "rate"),
        ("example.com", 5, 0, "burst"),
    ],
)
async def test_what_makes_no_sense_is_refused_by_name(
    conn: Conn, domain: str, rate: float, burst: int | None, field: str
) -> None:
    with pytest.raises(InvalidField, match=f"^{field}"):
        await rates.set_domain_rate(conn, domain, rate=rate, burst=burst, note=None)


@pytest.mark.parametrize(
    ("text", "per_second"), [("5/s", 5), ("300/min", 5), ("1800/h", 0.5), ("0.5/s", 0.5)]
)
async def test_rates_are_read_as_people_write_them(text: str, per_second: float) -> None:
    assert parse_rate(text) == per_second


@pytest.mark.parametrize("text", ["5", "5/", "/s", "5/week", "five/s", "5 mails/s", "-5/s"])
async def test_other_words_are_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="must be a rate"):
        parse_rate(text)


async def test_a_rate_that_no_float_holds_is_listed_as_the_nearest(conn: Conn) -> None:
    """Written past the triggers, which refuse it."""
    for domain in ("a.example", "b.example"):
        await rates.set_domain_rate(conn, domain, rate=5, burst=None, note=None)
    await conn.execute("ALTER TABLE mailqueue.domain_rates DISABLE TRIGGER USER")
    await conn.execute(
        "UPDATE mailqueue.domain_rates"
        " SET rate_per_second = CASE domain WHEN 'a.example' THEN 1e131000 ELSE 1e-16000 END"
    )

    assert [found.rate_per_second for found in await rates.list_rates(conn)] == [1e300, 1e-300]

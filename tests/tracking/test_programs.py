"""Opens and clicks by programs and proxies are told from those of people."""

import pytest

from mailqueue.db.pool import borrow
from tests import make
from tests.tracking.world import PERSON, World, world

pytestmark = pytest.mark.anyio

__all__ = ["world"]


@pytest.mark.parametrize(
    ("agent", "machine"),
    [
        ("Mozilla/5.0", "apple_privacy"),
        ("python-requests/2.31", "scanner"),
    ],
)
async def test_what_a_program_opens_is_recorded_as_its_doing(
    world: World, agent: str, machine: str
) -> None:
    email_id = await world.mail()

    assert (await world.get(world.opened(email_id), user_agent=agent)).status_code == 200

    [(_, _, data)] = await world.events(email_id)
    assert (data["is_machine"], data["machine"]) == (True, machine)


async def test_an_open_through_the_proxy_of_a_mailbox_is_a_persons(world: World) -> None:
    email_id = await world.mail()

    await world.get(world.opened(email_id), user_agent=f"{PERSON} (via ggpht.com GoogleImageProxy)")

    [(_, _, data)] = await world.events(email_id)
    assert (data["proxy"], "is_machine" in data) == ("gmail", False)
    async with borrow(world.pool, world.database) as conn:
        assert await make.rows(
            conn,
            "SELECT is_machine, proxy FROM mailqueue.open_events WHERE email_id = %s",
            email_id,
        ) == [(False, "gmail")]


@pytest.mark.parametrize(("ago", "machine"), [("1 second", "instant"), ("20 seconds", None)])
async def test_the_only_link_of_a_mail_followed_sooner_than_people_read_was_scanned(
    world: World, ago: str, machine: str | None
) -> None:
    email_id = await world.mail(ago=ago)

    await world.get(world.clicked(email_id, await world.link("https://example.com/confirm")))

    [(_, _, data)] = await world.events(email_id)
    assert data.get("machine") == machine


async def test_a_link_followed_while_its_mail_is_first_sent_was_scanned(world: World) -> None:
    async with borrow(world.pool, world.database) as conn:
        email_id = await make.queued_email(conn)
        await conn.execute(
            "UPDATE mailqueue.email_queue SET status = 'assigned', claim_no = 1 WHERE id = %s",
            (email_id,),
        )

    await world.get(world.clicked(email_id, await world.link("https://example.com/early")))

    [(_, _, data)] = await world.events(email_id)
    assert data["machine"] == "instant"


async def test_links_followed_all_at_once_after_a_mail_came_were_followed_by_a_program(
    world: World,
) -> None:
    email_id = await world.mail()
    links = [await world.link(f"https://example.com/{n}") for n in range(4)]

    for link in links:
        assert (await world.get(world.clicked(email_id, link))).status_code == 302

    verdicts = [data.get("machine") for _, _, data in await world.events(email_id)]
    assert verdicts == ["burst"] * 4


async def test_a_person_may_follow_two_links_or_the_same_one_often(world: World) -> None:
    email_id = await world.mail()
    one, two = [await world.link(f"https://example.com/p{n}") for n in range(2)]

    for link in (one, two, one, one):
        await world.get(world.clicked(email_id, link))

    assert not any("is_machine" in data for _, _, data in await world.events(email_id))

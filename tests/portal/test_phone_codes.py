"""Codes of phones end with the password of their person, and are used one after the other."""

import asyncio

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.portal.phoning import OTHER_PHONE, Phones
from tests.portal.visiting import PASSWORD
from tests.watch import watching

pytestmark = pytest.mark.anyio

NEW_PASSWORD = "another long password"
WAITS = """
    SELECT count(*) > 0 FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@pytest.mark.parametrize("way", ["change", "link"])
async def test_a_new_password_ends_the_codes_of_a_person_and_no_other(
    phones: Phones, way: str
) -> None:
    ann = await phones.portal.person()
    await phones.portal.person("ben@example.com")
    stolen, kept = await phones.code(), await phones.code("ben@example.com")
    async with phones.portal.visitor() as visitor:
        if way == "link":
            await visitor.choose(await phones.portal.link(ann), NEW_PASSWORD)
        else:
            await visitor.log_in()
            given = {"current": PASSWORD, "password": NEW_PASSWORD, "again": NEW_PASSWORD}
            await visitor.submit("/account", "/account/password", **given)

    assert "is over" in (await phones.said(stolen, OTHER_PHONE) or "")
    assert "You are notified" in (await phones.said(kept) or "")


async def test_a_code_that_is_sent_while_its_person_changes_waits_and_blocks_nothing(
    phones: Phones,
) -> None:
    person = await phones.portal.person()
    message = await phones.code()
    async with connect(phones.portal.database) as other:
        async with other.transaction():
            await other.execute(
                "SELECT FROM mailqueue.inbox_users WHERE id = %s FOR NO KEY UPDATE", (person,)
            )
            sending = asyncio.create_task(phones.said(message))
            async with phones.portal.connection() as conn:

                async def waits() -> bool:
                    return bool(await make.scalar(conn, WAITS))

                await watching.wait(waits, "the request waits for the person")
            # As a further code of the person does with the oldest ones.
            await other.execute("DELETE FROM mailqueue.phone_registrations")
        said = await sending

    assert said == "This code was used, or is over. Begin again on your page."

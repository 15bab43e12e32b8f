"""A person connects a phone by a code that is sent from it, with consent, and no other's."""

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.portal.phoning import CONNECT, HOOK, OTHER_PHONE, SETTINGS, Phones
from tests.portal.visiting import HOME, Visiting, visiting
from tests.watch import watching
from tests.watch.watching import PHONE

pytestmark = pytest.mark.anyio


async def test_the_phone_that_sends_the_code_is_connected_with_the_consent_of_the_page(
    phones: Phones,
) -> None:
    await phones.portal.person()
    message = await phones.code()

    assert await phones.said(message) == (
        "You are notified here of new mail from now on. Answer STOP to end this."
    )
    assert await phones.channels() == [("ann@example.com", "active", PHONE, True, True)]
    async with phones.portal.connection() as conn:
        query = "SELECT source, wording, given_at <= now() FROM mailqueue.channel_consents"
        ((source, wording, is_given),) = await make.rows(conn, query)
    assert source == f"{HOME}/channels/whatsapp"
    assert wording.startswith("Notify me of new mail in my inboxes by WhatsApp")
    assert is_given
    async with phones.portal.visitor() as visitor:
        await visitor.log_in()
        page = await visitor.text("/channels")
    assert PHONE in page
    assert "Connect again" in page


async def test_a_code_connects_one_phone_once(phones: Phones) -> None:
    await phones.portal.person()
    message = await phones.code()
    await phones.said(message)

    assert await phones.said(message, OTHER_PHONE) == (
        "This code was used, or is over. Begin again on your page."
    )
    assert [row[2] for row in await phones.channels()] == [PHONE]


async def test_a_code_that_is_over_connects_nothing(phones: Phones) -> None:
    await phones.portal.person()
    message = await phones.code()
    async with phones.portal.connection() as conn:
        await conn.execute("UPDATE mailqueue.phone_registrations SET expires_at = now()")

    assert "is over" in (await phones.said(message) or "")
    assert await phones.channels() == []


async def test_nothing_is_begun_without_consent(phones: Phones) -> None:
    await phones.portal.person()
    async with phones.portal.visitor() as visitor:
        await visitor.log_in()
        refused = await visitor.submit(CONNECT, CONNECT)

    assert refused.status_code == 422
    assert "nothing is sent to a phone without your consent" in refused.text
    async with phones.portal.connection() as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.phone_registrations") == 0


async def test_a_form_that_is_sent_twice_makes_one_code(phones: Phones) -> None:
    await phones.portal.person()
    async with phones.portal.visitor() as visitor:
        await visitor.log_in()
        token = visitor.token(CONNECT)
        answers = [await visitor.post(CONNECT, {"token": token, "agrees": "on"}) for _ in range(2)]

    assert [one.status_code for one in answers] == [200, 303]
    async with phones.portal.connection() as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.phone_registrations") == 1


@pytest.mark.parametrize(
    "spelling",
    ["{}", "hello!\n{}\nbye", "Notify me: *{}*", "{} "],
    ids=["as-shown", "in-a-text", "bold", "space"],
)
async def test_a_code_is_found_however_it_is_written(phones: Phones, spelling: str) -> None:
    await phones.portal.person()
    code = (await phones.code()).rpartition(" ")[2]
    written = spelling.format(code.lower().replace("-", "\u2013"))

    assert "You are notified" in (await phones.said(written) or "")


async def test_a_request_that_twilio_has_not_signed_connects_nothing(phones: Phones) -> None:
    await phones.portal.person()
    message = await phones.code()
    account = {"AccountSid": "AC00000000000000000000000000000009"}
    forged = [
        await phones.send(message, token="another"),
        await phones.send(message, **account),
        await phones.send(message, To="whatsapp:+15550000009"),
        await phones.send(message, From="+15550000002"),
    ]

    assert [one.status_code for one in forged] == [401] * 4
    assert await phones.channels() == []
    assert "You are notified" in (await phones.said(message) or "")


async def test_another_phone_takes_the_place_of_the_first(phones: Phones) -> None:
    await phones.portal.person()
    await phones.said(await phones.code())
    await phones.said(await phones.code(), OTHER_PHONE)

    assert [row[1:3] for row in await phones.channels()] == [
        ("disconnected", PHONE),
        ("active", OTHER_PHONE),
    ]


async def test_the_same_phone_stays_connected_and_gets_the_token_of_today(phones: Phones) -> None:
    await phones.portal.person()
    await phones.said(await phones.code())
    async with phones.portal.connection() as conn:
        await conn.execute(
            "UPDATE mailqueue.notification_channels SET status = 'error', last_error = 'refused'"
        )
    assert "You are notified" in (await phones.said(await phones.code()) or "")

    assert [row[1:3] for row in await phones.channels()] == [("active", PHONE)]


async def test_stop_ends_and_a_new_code_begins_again(phones: Phones) -> None:
    await phones.portal.person()
    await phones.said(await phones.code())
    assert await phones.said("Stop.") is None
    assert [row[1] for row in await phones.channels()] == ["opted_out"]

    assert "You are notified" in (await phones.said(await phones.code()) or "")
    assert [row[1] for row in await phones.channels()] == ["disconnected", "active"]


async def test_a_word_of_a_phone_counts_in_each_project_that_notifies_it(phones: Phones) -> None:
    async with phones.portal.connection() as conn:
        await make.project(conn, "blog")
    await phones.portal.person()
    await phones.portal.person("ben@example.com", "blog")
    await phones.said(await phones.code())
    await phones.said(await phones.code("ben@example.com", "/inbox/blog"))
    assert await phones.said("STOP", OTHER_PHONE) is None
    assert [row[1] for row in await phones.channels()] == ["active", "active"]

    assert await phones.said("STOP") is None
    assert [row[1] for row in await phones.channels()] == ["opted_out", "opted_out"]


async def test_stop_ends_a_channel_however_many_others_were_connected_to_its_number_before(
    phones: Phones,
) -> None:
    async with phones.portal.connection() as conn:
        await make.project(conn, "blog")
        for number in range(101):
            one = await watching.user(conn, f"p{number}@example.com", project="blog")
            await watching.phone(conn, one, project="blog")
    await phones.portal.person()
    await phones.said(await phones.code())
    assert await phones.said("STOP") is None

    assert {row[1] for row in await phones.channels()} == {"opted_out"}


async def test_a_code_of_one_person_connects_no_other(phones: Phones) -> None:
    await phones.portal.person()
    await phones.portal.person("ben@example.com")
    async with phones.portal.connection() as conn:
        ben = await make.scalar(
            conn, "SELECT id FROM mailqueue.inbox_users WHERE email = 'ben@example.com'"
        )
        await watching.phone(conn, ben, number=OTHER_PHONE)
    await phones.said(await phones.code())

    assert [row[:3] for row in await phones.channels()] == [
        ("ben@example.com", "active", OTHER_PHONE),
        ("ann@example.com", "active", PHONE),
    ]


async def test_a_person_has_ten_codes_and_no_more(phones: Phones) -> None:
    await phones.portal.person()
    first = await phones.code()
    last = [await phones.code() for _ in range(10)][-1]

    assert "is over" in (await phones.said(first) or "")
    assert "You are notified" in (await phones.said(last) or "")


async def test_text_without_a_code_is_noted_and_not_answered(phones: Phones) -> None:
    assert await phones.said("hello") is None
    assert "is over" in (await phones.said(" ".join(["AAAAA-BBBBB"] * 300)) or "")
    assert await phones.channels() == []


async def test_without_a_sender_of_the_installation_no_phone_is_offered(portal: Visiting) -> None:
    await portal.person()
    async with portal.visitor() as visitor:
        await visitor.log_in()
        page = await visitor.text("/channels")
        refused = await visitor.submit(CONNECT, CONNECT, agrees="on")
        hook = await visitor.http.post(HOOK, data={"Body": "hello"})

    assert "WhatsApp cannot be connected here" in page
    assert refused.status_code == 409
    assert hook.status_code == 401


async def test_a_phone_whose_token_cannot_be_sealed_is_told_and_its_code_stays(
    database: DatabaseSettings,
) -> None:
    async with visiting(database, **SETTINGS | {"master_key": None}) as portal:
        phones = Phones(portal)
        await portal.person()
        message = await phones.code()
        assert "cannot be connected now" in (await phones.said(message) or "")
    async with visiting(database, **SETTINGS) as portal:
        assert "You are notified" in (await Phones(portal).said(message) or "")

"""Sender accounts are changed, tested, activated, preferred and removed in the console."""

import pytest

from mailqueue.console.senders.pages import WarmUpDay, warm_up_days
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts
from mailqueue.senders.model import NewSender, SenderAccount, SenderStatus
from mailqueue.settings.environment import DatabaseSettings, load_settings
from mailqueue.vault.masterkey import MasterKey, master_key_of
from tests import make
from tests.api.support.wired import MASTER
from tests.console.test_pages import logged_in
from tests.console.visiting import Visiting, visiting
from tests.smtp.reference_server import PASSWORD, ReceivedMail, judge

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS"),
]
LIST = "/console/projects/default/senders"
SETTINGS = {
    "priority": "100",
    "max_connections": "4",
    "time_zone": "UTC",
    "email": "sender@example.com",
}
SERVER = {"host": "127.0.0.1", "port": "25", "tls_mode": "none", "username": "ann"}


async def found(conn: Conn, name: str) -> SenderAccount:
    return await accounts.find(conn, "default", name=name)


async def page_of(conn: Conn, name: str) -> str:
    return f"{LIST}/{(await found(conn, name)).public_id}"


def master() -> MasterKey:
    key = master_key_of(load_settings(master_key=Secret(MASTER)))
    assert key is not None
    return key


async def test_settings_are_changed_together_or_the_field_at_fault_is_named(
    console: Visiting,
) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await make.sender_account(conn, name="relay", daily_limit=500)
        await logged_in(console, visitor)
        page = await page_of(conn, "relay")
        path = f"{page}/change"
        before = await found(conn, "relay")
        for field, value, why in (
            ("warm_up", "200, many", "Must be whole numbers"),
            ("warm_up", "0", "Must be at least 1"),
            ("daily_limit", "0", "Must be at least 1"),
            ("rate_per_second", "fast", "valid number"),
            ("burst", "1000001", "Must be at most 1000000"),
            ("time_zone", "Europe/Nowhere", "Must be a name such as Europe/Berlin"),
            ("email", "nobody", "fault-email"),
            ("priority", "-1", "Must be at least 0"),
        ):
            refused = await visitor.submit(path, path, **SETTINGS | {field: value})
            assert refused.status_code == 422, field
            assert f'id="fault-{field}"' in refused.text, field
            assert why in refused.text, field
        assert await found(conn, "relay") == before

        late = await visitor.form(path, path)
        saved = await visitor.submit(
            path,
            path,
            **SETTINGS,
            display_name="Shop",
            is_fallback="on",
            hourly_limit="100",
            rate_per_second="2.5",
            warm_up="200 200, 1000",
            notes="<b>ours</b>",
        )
        assert saved.headers["location"] == f"{page}?done=changed"
        after = await found(conn, "relay")
        shown = (await visitor.get(saved.headers["location"])).text
        overtaken = await visitor.post(path, SETTINGS | late)

    assert (after.display_name, after.is_fallback) == ("Shop", True)
    assert (after.daily_limit, after.hourly_limit, after.rate_per_second) == (None, 100, 2.5)
    assert (after.warm_up, after.notes) == ((200, 200, 1000), "<b>ours</b>")
    assert "Today is day 1 of 3" in shown
    assert "&lt;b&gt;ours&lt;/b&gt;" in shown
    assert (overtaken.status_code, "changed meanwhile" in overtaken.text) == (422, True)


async def test_a_new_server_needs_its_password_again_and_a_test_shows_what_it_answers(
    database: DatabaseSettings,
) -> None:
    async with (
        judge(ReceivedMail(), auth=True) as port,
        visiting(database, master_key=Secret(MASTER)) as console,
        console.connection() as conn,
        console.visitor() as visitor,
    ):
        await make.sender_account(conn, name="relay", smtp_host="old.example.com")
        await logged_in(console, visitor)
        page = await page_of(conn, "relay")
        path = f"{page}/server"
        wanted = SERVER | {"port": str(port)}
        refused = await visitor.submit(path, path, **wanted)
        saved = await visitor.submit(path, path, **wanted, password=PASSWORD)
        form = (await visitor.get(path)).text
        tried = (await visitor.submit(page, f"{page}/try")).text
        of_api = await visitor.submit(f"{page}/key", f"{page}/key", password=PASSWORD)
        after = await found(conn, "relay")
        audited = await make.scalar(
            conn, "SELECT detail FROM mailqueue.audit_events WHERE action = 'sender.changed'"
        )

    assert (refused.status_code, 'id="fault-password"' in refused.text) == (422, True)
    assert saved.headers["location"] == f"{page}?done=changed"
    assert (after.smtp_host, after.smtp_port, after.smtp_username) == ("127.0.0.1", port, "ann")
    assert "its server answered and accepted the login" in tried
    assert "What was said" in tried
    assert PASSWORD not in form + tried + str(audited)
    assert "smtp_password" in audited["fields"]
    assert "Relay sends by SMTP" in of_api.text


async def test_only_who_administers_the_installation_names_hosts_of_its_network(
    database: DatabaseSettings,
) -> None:
    async with (
        visiting(database, master_key=Secret(MASTER)) as console,
        console.connection() as conn,
        console.visitor() as visitor,
    ):
        await make.sender_account(conn, name="relay", smtp_host="127.0.0.1")
        await logged_in(console, visitor, "project_admin")
        path = f"{await page_of(conn, 'relay')}/server"
        await visitor.submit(path, path, **SERVER, password=PASSWORD)
        same = await found(conn, "relay")
        await visitor.submit(path, path, **SERVER | {"host": "10.0.0.1"}, password=PASSWORD)
        other = await found(conn, "relay")

    assert (same.smtp_username, same.is_private_ok) == ("ann", True)
    assert (other.smtp_host, other.is_private_ok) == ("10.0.0.1", False)


async def test_the_key_of_a_providers_api_is_replaced_and_never_shown(
    database: DatabaseSettings,
) -> None:
    async with (
        visiting(database, master_key=Secret(MASTER)) as console,
        console.connection() as conn,
        console.visitor() as visitor,
    ):
        new = NewSender("api", provider=Provider.POSTMARK, password=Secret("the-old-token"))
        await accounts.add(conn, new, project="default", master=master())
        await logged_in(console, visitor)
        page = await page_of(conn, "api")
        path = f"{page}/key"
        saved = await visitor.submit(path, path, password="the-new-token")
        after = await found(conn, "api")
        key = await accounts.password_of(conn, after, master=master())
        shown = (await visitor.get(page)).text + (await visitor.get(path)).text
        of_server = await visitor.submit(f"{page}/server", f"{page}/server", **SERVER)

    assert saved.headers["location"] == f"{page}?done=changed"
    assert key is not None
    assert key.reveal() == "the-new-token"
    assert "-token" not in shown
    assert "Api sends by the API of Postmark" in of_server.text


async def test_an_account_is_activated_preferred_and_removed(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await make.sender_account(
            conn, name="relay", status="suspended", status_reason="535 account <closed>"
        )
        await make.sender_account(conn, name="other", priority=10)
        await logged_in(console, visitor)
        page = await page_of(conn, "relay")
        assert f"{page}/activate" in (await visitor.get(page)).text
        asked = (await visitor.get(f"{page}/activate")).text
        assert "535 account &lt;closed&gt;" in asked
        activated = await visitor.submit(f"{page}/activate", f"{page}/activate")
        assert activated.headers["location"] == f"{page}?done=activated"
        assert (await found(conn, "relay")).status is SenderStatus.ACTIVE
        again = await visitor.submit(f"{page}/activate", f"{page}/activate")
        assert "is not suspended: it is active" in again.text

        preferred = await visitor.submit(f"{page}/prefer", f"{page}/prefer")
        assert preferred.headers["location"] == f"{page}?done=preferred"
        listed = await accounts.list_all(conn, project="default")
        assert [one.name for one in listed] == ["relay", "other"]

        removed = await visitor.submit(f"{page}/remove", f"{page}/remove")
        assert removed.headers["location"] == f"{LIST}?done=removed"
        assert "relay" not in (await visitor.get(LIST)).text
        assert (await visitor.get(page)).status_code == 404
        query = "SELECT array_agg(action ORDER BY id) FROM mailqueue.audit_events"
        actions = await make.scalar(conn, f"{query} WHERE subject = 'sender relay'")

    assert actions[-3:] == ["sender.changed", "sender.activated", "sender.removed"]


async def test_who_may_only_look_is_shown_no_button(console: Visiting) -> None:
    async with console.connection() as conn, console.visitor() as visitor:
        await make.sender_account(conn, name="relay")
        await logged_in(console, visitor, "viewer")
        page = await page_of(conn, "relay")
        shown = (await visitor.get(page)).text
        answers = [
            (await visitor.get(f"{page}/{act}")).status_code
            for act in ("change", "server", "key", "activate", "prefer", "remove")
        ]

    assert f"{page}/" not in shown
    assert set(answers) == {403}


def test_the_bars_of_a_warm_up_are_in_proportion_and_todays_is_marked() -> None:
    assert warm_up_days([1, 500, 1000], 2) == [
        WarmUpDay(1, 1, 1, is_today=False),
        WarmUpDay(2, 500, 50, is_today=True),
        WarmUpDay(3, 1000, 100, is_today=False),
    ]
    assert not any(day.is_today for day in warm_up_days([5], None))

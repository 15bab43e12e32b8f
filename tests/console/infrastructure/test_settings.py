"""The settings and flags of the installation in the console."""

import re
from html import unescape

import pytest

from mailqueue.admin import settings
from mailqueue.db.fetch import Conn
from tests import make
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

PATH = "/console/platform"
CHANGE = f"{PATH}/change"


async def values(conn: Conn) -> dict[str, str]:
    found = [*await settings.list_flags(conn), *await settings.list_all(conn)]
    return {each.name: each.value for each in found}


async def test_every_setting_and_flag_is_shown_with_its_meaning(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as ann, console.connection() as conn:
        await ann.log_in("ann")
        page = unescape((await ann.get(PATH)).text)
        for each in [*await settings.list_flags(conn), *await settings.list_all(conn)]:
            assert f'id="{each.name}"' in page, each.name
            assert each.meaning.replace("`", "") in page, each.name


async def test_what_was_typed_differently_is_changed_alone_and_stands_in_the_audit(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    async with console.visitor() as ann, console.connection() as conn:
        before = await values(conn)
        await ann.log_in("ann")
        same = await ann.submit(PATH, CHANGE, **before)
        changes = {"accept_mail": "off", "max_send_rate": "200", "max_attachment_bytes": "10 MB"}
        done = await ann.submit(PATH, CHANGE, **before | changes)

        assert same.headers["location"] == f"{PATH}?done=same"
        assert done.headers["location"] == f"{PATH}?done=changed"
        after = await values(conn)
        assert {name for name in after if after[name] != before[name]} == set(changes)
        assert after["accept_mail"] == "off"
        actors = await make.rows(
            conn,
            "SELECT DISTINCT actor FROM mailqueue.audit_events WHERE actor LIKE '%ann%console%'",
        )
        assert actors


async def test_a_fault_is_shown_beside_its_field_and_nothing_is_changed(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as ann, console.connection() as conn:
        before = await values(conn)
        await ann.log_in("ann")
        for name, text in (("max_send_rate", '"><script>'), ("max_attachment_bytes", "much")):
            given = {"accept_mail": "off", name: text}
            refused = await ann.submit(PATH, CHANGE, **before | given)
            assert refused.status_code == 422, name
            assert f'id="fault-{name}"' in refused.text
            assert "Nothing was changed." in refused.text
            assert "<script>" not in refused.text.partition("<main")[2]
            assert re.search(r'id="accept_mail".*?<option value="off" selected', refused.text)
        assert await values(conn) == before


async def test_a_form_that_was_made_before_another_change_changes_nothing(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    async with console.visitor() as ann, console.connection() as conn:
        await ann.log_in("ann")
        fields = await ann.form(PATH, CHANGE)
        async with conn.transaction():
            await settings.change(conn, {"max_send_rate": "300"}, by="ben")
        before = await values(conn)
        late = await ann.post(CHANGE, fields | {"accept_mail": "off"})

        assert late.status_code == 409
        assert "Somebody changed a setting meanwhile" in late.text
        assert await values(conn) == before


async def test_a_change_asks_for_the_password_again_after_a_while(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as ann, console.connection() as conn:
        await ann.log_in("ann")
        fields = await ann.form(PATH, CHANGE)
        await conn.execute(console.unconfirmed("ann"))
        asked = await ann.post(CHANGE, fields | {"accept_mail": "off"})

        assert asked.status_code == 303
        assert asked.headers["location"].startswith("/console/confirm")
        assert (await values(conn))["accept_mail"] == "on"

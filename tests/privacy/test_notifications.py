"""What an erasure leaves of notifications and filter rules."""

import pytest

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import persons
from mailqueue.privacy.exporting import export_from_all
from mailqueue.watch import muting
from tests import make
from tests.privacy.erasing import erased
from tests.watch import watching
from tests.watch.watching import PHONE

pytestmark = pytest.mark.anyio
KEY = "0197b8f0-0000-7000-8000-0000000000d1"


async def test_an_erasure_deletes_what_names_the_person_and_stops_rules_about_them(
    desk: MaintenanceContext,
) -> None:
    owner, inbox_id, _ = await watching.person(desk.conn, 1, 1)
    await watching.record(desk.conn, inbox_id, KEY, "From Ann")
    await desk.conn.execute(
        "INSERT INTO mailqueue.filter_rules (project_id, user_id, rule_type, pattern)"
        " SELECT project_id, id, 'sender', 'ann@example.com' FROM mailqueue.inbox_users"
        " WHERE id = %s",
        (owner,),
    )
    project_id = await make.project_named(desk.conn)
    await muting.mute(desk.conn, project_id, owner, "Ann@example.com", by="tests")
    await desk.conn.commit()
    await erased(desk, "ann@example.com")

    assert await watching.log(desk.conn) == []
    assert await muting.list_page(desk.conn, project_id, limit=5) == []
    pattern = await make.scalar(desk.conn, "SELECT pattern FROM mailqueue.filter_rules")
    assert "ann@example.com" not in pattern
    assert pattern


async def test_what_was_noted_of_the_sender_of_a_mail_is_exported_and_erased(
    desk: MaintenanceContext,
) -> None:
    owner, inbox_id, _ = await watching.person(desk.conn, 1, 1)
    await watching.record(desk.conn, inbox_id, KEY, "About my divorce")
    wrote = "UPDATE mailqueue.notifications SET sender_name = %s, sender_address = %s"
    await desk.conn.execute(wrote, ("Zoe Third", "zoe@third.example"))
    await desk.conn.commit()
    lend, spellings = persons.lending(desk.conn), persons.spellings_of("zoe@third.example")
    found = str(await export_from_all(lend, spellings, context=desk))
    assert all(text in found for text in ("Zoe Third", "zoe@third.example", "About my divorce"))
    await erased(desk, "zoe@third.example")

    query = "SELECT coalesce(string_agg(n::text, ''), '') FROM mailqueue.notifications AS n"
    left = await make.scalar(desk.conn, query)
    assert not any(text in left for text in ("Zoe", "third.example", "divorce"))
    inbox = "SELECT count(*) FROM mailqueue.mailboxes WHERE user_id = %s"
    assert await make.scalar(desk.conn, inbox, owner) == 1, "the owner of the inbox goes on"


async def test_an_export_has_the_number_of_a_phone_and_an_erasure_deletes_it(
    desk: MaintenanceContext,
) -> None:
    owner = await watching.user(desk.conn)
    channel_id = await watching.phone(desk.conn, owner)
    inbox_id = await watching.inbox(desk.conn, owner, 1)
    await watching.queued(desk.conn, owner, inbox_id, channel_id, 1)
    await desk.conn.commit()
    lend, spellings = persons.lending(desk.conn), persons.spellings_of("ann@example.com")
    assert PHONE in str(await export_from_all(lend, spellings, context=desk))
    await erased(desk, "ann@example.com")

    tables = ("channel_consents", "notification_channels", "notifications", "audit_events")
    for table in tables:
        query = f"SELECT coalesce(string_agg(o::text, ''), '') FROM mailqueue.{table} AS o"
        assert PHONE not in await make.scalar(desk.conn, query)
    query = "SELECT status, sealed_token FROM mailqueue.notification_channels"
    assert await make.rows(desk.conn, query) == [("disconnected", None)]
    query = "SELECT status, last_error FROM mailqueue.notifications"
    assert await make.rows(desk.conn, query) == [("failed", "its channel was disconnected")]

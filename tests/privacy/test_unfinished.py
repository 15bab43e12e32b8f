"""What an erasure by the API leaves unfinished, and how `up` finishes it."""

from pathlib import Path

import pytest

from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.exporting import export_person
from mailqueue.privacy.unfinished import finish_all
from tests import make
from tests.maintenance.old_mail import aged
from tests.privacy.erasing import sent
from tests.privacy.planted_rows import ANN, in_files

pytestmark = pytest.mark.anyio


async def test_files_wait_for_a_process_that_can_write_them(
    desk: MaintenanceContext, warm: Path
) -> None:
    await sent(desk.conn)
    await aged(desk.conn)
    await archive_task.run(desk)
    lend = persons.lending(desk.conn)
    project_id = await make.project_named(desk.conn)
    begun = await erasing.begin(lend, project_id, persons.spellings_of(ANN), by="tests")

    without = await erasing.go_on(lend, begun, by="tests")
    assert (without.is_done, without.erasure.stage) == (False, "files")
    assert without.needs is not None
    assert in_files(warm)

    assert [each.is_done for each in await finish_all(desk, by="tests")] == [True]
    assert in_files(warm) == []
    assert await finish_all(desk, by="tests") == []


async def test_an_export_has_mail_events_archives_and_what_names_them(
    desk: MaintenanceContext, warm: Path
) -> None:
    conn = desk.conn
    await sent(conn, subject="Long ago", text_body="Your illness")
    await aged(conn)
    await archive_task.run(desk)
    await sent(conn, subject="Hello", recipient_name="Ann Smith")
    await sent(conn, recipient_email="bob@example.com", text_body=f"Ask {ANN}")
    await conn.execute(
        "INSERT INTO mailqueue.unsubscribe_list (email, category) VALUES (%s, 'marketing')", (ANN,)
    )
    (project,) = await persons.projects(conn, "default")

    found = await export_person(
        persons.lending(conn), project, persons.spellings_of(ANN), context=desk
    )

    (mail,) = found["mails"]
    assert (mail["recipient_name"], mail["content"]["subject"]) == ("Ann Smith", "Hello")
    assert len(mail["attempts"]) == 1
    assert [one["text_body"] for one in found["records"]["email_contents"]] == [f"Ask {ANN}"]
    assert {"unsubscribe_list", "suppressions"} <= set(found["records"])
    assert set(found["archives"]) == {"email_history", "email_contents", "send_logs"}
    assert found["archives"]["email_contents"][0]["text_body"] == "Your illness"
    assert "bob@example.com" not in str(found["mails"])

"""Exports of a person from all projects: the same as from each one, read once."""

import json
from typing import Any

import pytest

from mailqueue.mail.model import Ending, LogStatus
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import persons, store
from mailqueue.privacy.exporting import export_from_all, export_person
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.maintenance.old_mail import aged
from tests.privacy.erasing import sent
from tests.privacy.planted_rows import ANN

pytestmark = pytest.mark.anyio
NAMES = ("default", "shop", "blog")


async def planted(desk: MaintenanceContext) -> None:
    """Have three projects and the installation itself store something about a person."""
    conn = desk.conn
    await sent(conn, subject="Long ago", text_body="Your illness")
    await aged(conn)
    await archive_task.run(desk)
    await sent(conn, subject="Hello", recipient_name="Ann Smith")
    for name in (*NAMES[1:], "others"):
        project = await make.project(conn, name)
        person = "bob@example.com" if name == "others" else ANN
        unsubscribed = {
            "project_id": project,
            "email": person,
            "category": "marketing",
            "ip_address": "203.0.113.7",
        }
        await make.inserted(conn, "unsubscribe_list", unsubscribed)
    body = f"about {ANN}".encode()
    await make.inserted(conn, "inbound_events", {"provider": "sendgrid", "body": body})


async def test_all_projects_are_exported_as_each_one_is(desk: MaintenanceContext) -> None:
    await planted(desk)
    lend, spellings = persons.lending(desk.conn), persons.spellings_of(ANN)
    found = await export_from_all(lend, spellings, context=desk)
    known = {one.name: one for one in await persons.projects(desk.conn, None)}

    assert {one["project"] for one in found} == set(NAMES)
    for one in found:
        alone = await export_person(lend, known[one["project"]], spellings, context=desk)
        assert one == alone
        assert list(one["records"]) == list(alone["records"])
        assert one["records"]["inbound_events"]
        networks = [each["ip_address"] for each in one["records"].get("unsubscribe_list", [])]
        assert networks == ([] if one["project"] == "default" else ["203.0.113.0/24"])
    assert found[0]["archives"] or found[1]["archives"] or found[2]["archives"]


async def test_what_was_said_is_exported_without_other_recipients(
    desk: MaintenanceContext,
) -> None:
    """Of the person's own mail, of mail to several, and of mail in archive files."""
    conn = desk.conn
    await make.sender_account(conn)

    async def refused(text: str, recipient: str, **columns: object) -> None:
        await make.queued_email(conn, recipient_email=recipient, **columns)
        lines = [
            {"ms": n, "by": "client", "text": f"RCPT TO:<{address}>"}
            for n, address in enumerate((ANN, "bob@example.com"))
        ]
        lines.append({"ms": 2, "by": "server", "text": text})
        said = {"protocol": "smtp", "lines": lines, "body": "to bob@example.com"}
        claims = await claim(conn, await make.worker(conn))
        await settle(
            conn, claims, Ending.FAILED, log=LogStatus.FAILED, conversation=json.dumps(said)
        )

    await refused("550 archived", ANN, cc=["bob@example.com"])
    await aged(conn)
    await archive_task.run(desk)
    await refused("550 alone", ANN)
    await refused("550 first", ANN, cc=["bob@example.com"])
    await refused("550 second", "bob@example.com", cc=[ANN])
    lend, spellings = persons.lending(conn), persons.spellings_of(ANN)
    (project,) = await persons.projects(conn, "default")
    export = await export_person(lend, project, spellings, context=desk)

    attempts = [each for mail in export["mails"] for each in mail["attempts"] or ()]
    attempts += export["records"]["send_logs"] + export["archives"]["send_logs"]
    found = {one["conversation"]["lines"][-1]["text"]: one["conversation"] for one in attempts}
    assert set(found) == {"550 archived", "550 alone", "550 first", "550 second"}
    whole = found.pop("550 alone")
    assert (len(whole["lines"]), whole["body"]) == (3, "to bob@example.com")
    for name, conversation in found.items():
        assert "bob@" not in json.dumps(conversation), name
        assert f"RCPT TO:<{ANN}>" in json.dumps(conversation), name


async def test_tables_are_read_once_however_many_projects_there_are(
    desk: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    await planted(desk)
    reads = list[str]()

    def counted(name: str) -> None:
        read = getattr(store, name)

        async def reading(conn: Any, *args: Any, **options: Any) -> Any:
            reads.append(name)
            return await read(conn, *args, **options)

        monkeypatch.setattr(store, name, reading)

    for name in ("read_mentions", "read_all_mentions", "projects_naming"):
        counted(name)
    spellings = persons.spellings_of(ANN)
    await export_from_all(persons.lending(desk.conn), spellings, context=desk)
    steps = [s for table in await store.tables(desk.conn) for s in persons.steps(table)]
    assert reads == ["read_all_mentions"] * len(steps)

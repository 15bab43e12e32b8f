"""Hostile input is refused or arrives unchanged, by every interface; checked in the SMTP bytes."""

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.acceptance import accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.settings.environment import DatabaseSettings, load_settings
from mailqueue.wiring import sending
from tests import make
from tests.api.support.calling import Calling, calling
from tests.cli.sending.mailing import Folder
from tests.cli.support.invoked import Cli
from tests.concurrency.running import account_at, session, until_nothing_is_queued
from tests.hostile.payloads import ANN, SENDER, WORDS, Case, cases, named
from tests.hostile.wire import check, check_conversation, email_id_of
from tests.mail.accept.intakes import WAYS, NotAccepted
from tests.smtp.client.scripted import ScriptedServer, scripted

EVERYTHING = list(cases())
ENDS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
IN_HEADERS = {
    *("subject", "recipient's name", "sender's name", "name in answers", "name in copy"),
    *("header", "unsubscribe", "header's name", "campaign", "category"),
    *("file's name", "file's type", "content id"),
}
NARROW = {"file's type", "content id"}  # hardly anything of the table can stand there
# What alters how a terminal or a page shows the words around it.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass
class Handed:
    """The result of each mail that was submitted."""

    accepted: dict[UUID, Case] = field(default_factory=dict)
    refused: list[Case] = field(default_factory=list)

    def refuse(self, case: Case, words: str) -> None:
        """Note a refusal; its text must be safe to show."""
        assert not UNSEEN.search(words), f"{case}: {words!r}"
        self.refused.append(case)


async def by_sql(way: str, conn: Conn, mails: list[Case]) -> Handed:
    handed = Handed()
    async with conn.transaction():
        for case in mails:
            if not case.is_storable:
                continue  # no text in SQL can say it
            try:
                handed.accepted[await WAYS[way](conn, **case.columns)] = case
            except NotAccepted as refusal:
                handed.refuse(case, refusal.message)
    return handed


async def by_python(conn: Conn) -> Handed:
    handed = Handed()
    for case in EVERYTHING:
        columns = dict(case.columns)
        recipient = columns.pop("recipient_email")
        if "recipient_name" in columns:
            recipient = named(columns.pop("recipient_name"), recipient)
        bodies = {word: columns.pop(f"{word}_body", None) for word in ("html", "text")}
        email = NewEmail(recipient, columns.pop("subject"), options=columns, **bodies)
        try:
            accepted = await accept_one(conn, email, project="default")
        except InvalidField as refusal:
            handed.refuse(case, str(refusal))
        else:
            handed.accepted[accepted.id] = case
    return handed


async def by_http(api: Calling, mails: list[Case]) -> Handed:
    handed = Handed()
    for case in mails:
        body = dict(case.columns)
        recipient = body.pop("recipient_email")
        name = body.pop("recipient_name", None)
        body["to"] = [recipient if name is None else named(name, recipient)]
        answer = await api.send(json.dumps(body).encode(), content_type="application/json")
        if answer.status_code == 202:
            handed.accepted[UUID(answer.json()["id"])] = case
        else:
            assert answer.status_code in (400, 422), f"{case}: {answer.status_code}"
            handed.refuse(case, answer.json()["message"])
    return handed


@asynccontextmanager
async def sink(conn: Conn) -> AsyncIterator[ScriptedServer]:
    async with scripted(ehlo=("PIPELINING", "8BITMIME", "SMTPUTF8")) as server:
        await account_at(conn, server, email=SENDER)
        yield server


async def judged(
    database: DatabaseSettings, folder: Path, hand_in: Callable[[Conn], Awaitable[Handed]]
) -> Handed:
    """Submit mail, send it by a worker, and compare it with what arrived."""
    async with session(database) as conn, sink(conn) as server:
        handed = await hand_in(conn)
        if not handed.accepted:
            return handed
        settings = load_settings(database_url=database.url, data=folder)
        stop = asyncio.Event()
        running = asyncio.create_task(
            sending.build_send_worker(settings, launch_id=uuid4()).run(stop)
        )
        try:
            await until_nothing_is_queued(conn)
        finally:
            stop.set()
            await running
        check_conversation(server)
        arrived = {email_id_of(message): message for message in server.messages}
        assert len(arrived) == len(server.messages)
        for email_id, message in arrived.items():
            check(handed.accepted[email_id], message)
        # Only a domain's A-label form has rules that the database does not know.
        for email_id in handed.accepted.keys() - arrived.keys():
            assert await make.status_of(conn, email_id) == "failed"
            assert "a-label" in handed.accepted[email_id].name
    return handed


def promised(handed: Handed) -> None:
    """Check that what must be refused was refused, and that enough was accepted."""
    refused = {(case.place, case.name) for case in handed.refused}
    for name, value in WORDS.items():
        if ENDS.search(value):
            assert {place for place in IN_HEADERS if (place, name) not in refused} == set()
    wide = [case for case in handed.refused if case.place not in NARROW]
    assert len(handed.accepted) > len(wide)


def some(way: str, every: int) -> list[Case]:
    """Return one of that many cases, different ones for each interface."""
    return EVERYTHING[sorted([*WAYS, "http"]).index(way) :: every]


pytestmark = pytest.mark.timeout(120)
share = pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.soak)])


@share
@pytest.mark.parametrize("way", WAYS)
def test_what_comes_by_sql_arrives_as_it_is_or_not_at_all(
    database: DatabaseSettings, tmp_path: Path, way: str, every: int
) -> None:
    mails = some(way, every)

    asyncio.run(judged(database, tmp_path, lambda conn: by_sql(way, conn, mails)))


def test_what_comes_by_python_arrives_as_it_is_or_not_at_all(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    promised(asyncio.run(judged(database, tmp_path, by_python)))


@share
def test_what_comes_by_http_arrives_as_it_is_or_not_at_all(
    database: DatabaseSettings, tmp_path: Path, every: int
) -> None:
    async def called(conn: Conn) -> Handed:
        async with calling(database) as api:
            await conn.execute("DELETE FROM mailqueue.sender_accounts WHERE name = 'relay'")
            return await by_http(api, some("http", every))

    asyncio.run(judged(database, tmp_path, called))


def test_what_comes_by_a_file_arrives_as_it_is_or_not_at_all(
    on_fresh_db: Cli,
    tmp_path: Path,
) -> None:
    folder = Folder(on_fresh_db, tmp_path)
    texts = [case for case in EVERYTHING if case.place == "text" and case.is_storable]
    names = [case for case in EVERYTHING if case.place == "recipient's name" and case.is_storable]
    subjects = [case for case in EVERYTHING if case.place == "subject" and case.is_storable]
    people = {f"n{n}@example.com": case for n, case in enumerate([*texts, *names, *subjects])}
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(("email", "name", "title", "text"))
    for address, case in people.items():
        of = case.columns
        writer.writerow((address, of.get("recipient_name"), of["subject"], of["text_body"]))
    text = tmp_path / "text.j2"
    text.write_text("{{ text }}")
    options = ("--text-template-file", str(text), "--subject", "{{ title }}")
    result = folder.enqueue(written.getvalue(), *options)
    assert isinstance(result.exception, SystemExit | None), result.output

    async def stored(conn: Conn) -> Handed:
        rows = await make.rows(conn, "SELECT recipient_email, id FROM mailqueue.emails")
        id_by_address = dict(rows)
        handed = Handed()
        for address, case in people.items():
            if address in id_by_address:
                columns = case.columns | {"recipient_email": address}
                handed.accepted[id_by_address[address]] = replace(case, columns=columns)
            else:
                handed.refused.append(case)
        return handed

    settings = DatabaseSettings(Secret(on_fresh_db.database))
    handed = asyncio.run(judged(settings, tmp_path, stored))
    assert {case.place for case in handed.refused} == {"recipient's name", "subject"}
    assert len(handed.accepted) > len(handed.refused)


@pytest.mark.parametrize("name", ["crlf", "word in b", "right to left", "dash", "formula", "nul"])
def test_what_comes_by_the_command_arrives_as_it_is_or_not_at_all(
    on_fresh_db: Cli,
    tmp_path: Path,
    name: str,
) -> None:
    value = WORDS[name]
    words = ("--header", f"X-Odd:{value}", "--text", "Hi", "--tag", value)
    result = on_fresh_db("send", "--to", ANN, f"--subject={value}", *words)
    assert isinstance(result.exception, SystemExit | None), result.output
    assert result.exit_code in (0, 1, 2)

    async def stored(conn: Conn) -> Handed:
        rows = await make.rows(conn, "SELECT id FROM mailqueue.emails")
        headers = {"X-Odd": value}
        columns = {"recipient_email": ANN, "subject": value, "headers": headers}
        return Handed({email_id: Case("subject", name, value, columns) for (email_id,) in rows})

    settings = DatabaseSettings(Secret(on_fresh_db.database))
    handed = asyncio.run(judged(settings, tmp_path, stored))
    assert len(handed.accepted) == (result.exit_code == 0) == (name not in ("crlf", "nul"))

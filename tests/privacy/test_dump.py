"""After an erasure neither a dump of the database nor any file nor the log contains the address."""

import asyncio
import base64
import quopri
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.embedded.binaries import find_binaries
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.tracking import store as tracking_store
from mailqueue.tracking.model import TrackedLink
from tests import make
from tests.audit.sealed import name_of
from tests.conftest import Server
from tests.mail.claim.steps import claim, settle
from tests.maintenance.old_mail import aged
from tests.privacy.dumped import files_in, forms_of, found_in
from tests.privacy.erasing import erased

pytestmark = pytest.mark.anyio

BOB = "bob@example.com"


async def dump_of(server: Server, database: str) -> bytes:
    """Return a plain dump of all data."""
    program = str(find_binaries().bin / "pg_dump")
    url = server.superuser_url(name_of(database))
    done = await asyncio.to_thread(
        subprocess.run, [program, "--data-only", url], check=True, capture_output=True
    )
    return done.stdout


async def send_all(conn: Conn) -> None:
    worker = await make.worker(conn)
    while claims := await claim(conn, worker):
        await settle(conn, claims, Ending.SENT, log=LogStatus.SENT)


async def old_mail(desk: MaintenanceContext, address: str) -> None:
    """Put mail to the person, and mail that names them, into the archive."""
    await make.sender_account(desk.conn)
    await make.queued_email(
        desk.conn,
        recipient_email=address,
        idempotency_key=f"old-{address}",
        campaign_id=f"spring-{address}",
        tags=["vip", f"of-{address}"],
    )
    await make.queued_email(
        desk.conn, recipient_email=BOB, cc=[address], idempotency_key=f"old-both-{address}"
    )
    await make.queued_email(desk.conn, recipient_email=BOB, text_body=f"ask <{address.upper()}>")
    await send_all(desk.conn)
    await aged(desk.conn)
    await archive_task.run(desk)


async def new_mail(conn: Conn, address: str) -> None:
    """Send mail to the person, with the address as a part of every word that a caller chooses."""
    local, _, domain = address.rpartition("@")
    await make.queued_email(
        conn,
        recipient_email=f"{local.title()}@{domain}",
        recipient_name=f"Cal <{address}>",
        subject=f"For {address}",
        idempotency_key=f"welcome-{address}",
        campaign_id=f"spring-{address}",
        tags=["vip", f"of-{address}"],
        custom_data=Jsonb({"ref": f"order-{address}", address: {"deep": [address.upper()]}}),
        html_body=f'<a href="https://shop.example/?email={quote(address)}">shop</a>',
    )
    await make.queued_email(
        conn, recipient_email=BOB, cc=[address], idempotency_key=f"both-{address}"
    )
    await make.queued_email(
        conn,
        recipient_email=BOB,
        text_body=f"ask {address}, or mailto:{quote(address)}",
        html_body=f"<p>{address.replace('@', '&#64;')}</p>",
        custom_data=Jsonb({"from": f"<{address}>"}),
    )
    await send_all(conn)


async def links(conn: Conn, address: str) -> None:
    project = await make.project_named(conn)
    for n, form in enumerate((address, quote(address, safe=""), address.upper())):
        await conn.execute(
            "INSERT INTO mailqueue.tracked_links (project_id, link, url)"
            " VALUES (%s, decode(lpad(%s, 24, '0'), 'hex'), %s)",
            (project, str(n), f"https://shop.example/login?n={n}&email={form}&x=1"),
        )


async def raw_mail(conn: Conn, address: str) -> None:
    """Put messages to others into the trap that name the person in each encoding."""
    word = base64.b64encode(address.encode()).decode()
    bodies = [
        f"ask {address.upper()}".encode(),
        quopri.encodestring(f"héllo {'x' * 60} {address} {'y' * 40}".encode()),
        quopri.encodestring(address.encode(), quotetabs=True).replace(b"@", b"=40"),
        *(base64.encodebytes(f"{'h' * n} {address}\r\n".encode()) for n in range(50, 60)),
        *(base64.encodebytes(f"{'h' * n} {address.upper()}\r\n".encode()) for n in range(3)),
        f"Subject: =?utf-8?b?{word}?=".encode(),
        f"see https://x.example/?to={quote(address, safe='')}".encode(),
    ]
    for body in bodies:
        raw = b"To: bob@example.com\r\nContent-Type: text/plain\r\n\r\n" + body
        await make.inserted(
            conn,
            "trap_messages",
            {
                "mail_from": "shop@example.com",
                "rcpt_to": [BOB],
                "subject": "Hello",
                "from_header": "shop@example.com",
                "to_header": BOB,
                "preview": "Hello",
                "size_bytes": len(raw),
                "raw": raw,
            },
        )


async def events(conn: Conn, address: str) -> None:
    """Store requests of providers, processed and not, and what callers and operators wrote."""
    for finished, body in (
        ("now()", f'[{{"email": "{address}", "raw": "{_word(address)}"}}]'),
        ("NULL", f'[{{"email": "{address}", "raw": "x{_word(address)}"}}]'),
    ):
        status = "processed" if finished == "now()" else "pending"
        await conn.execute(
            "INSERT INTO mailqueue.inbound_events (project_id, provider, body, finished_at, status)"
            f" SELECT id, 'sendgrid', %s, {finished}, '{status}' FROM mailqueue.projects".encode(),
            (body.encode(),),
        )
    await conn.execute(
        "INSERT INTO mailqueue.audit_events (action, subject, detail)"
        " VALUES ('emails.held', %s, %s)",
        (f"mail to {address}", Jsonb({"filter": {"recipient": address.upper()}})),
    )
    await conn.execute(
        "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES (%s, 'hard')", (address,)
    )


def _word(address: str) -> str:
    return base64.b64encode(f"to: {address};".encode()).decode()


@pytest.mark.deep
@pytest.mark.parametrize("address", ["cal@privat.example", "cal.o'neil+x@bücher.example"])
async def test_neither_dump_nor_files_nor_log_contain_an_erased_address(
    desk: MaintenanceContext,
    server: Server,
    fresh_db: str,
    warm: Path,
    shelf: Path,
    address: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    conn = desk.conn
    await conn.execute("UPDATE mailqueue.projects SET attachment_types = '{text/plain}'")
    await old_mail(desk, address)
    await new_mail(conn, address)
    await links(conn, address)
    await raw_mail(conn, address)
    await events(conn, address)
    before = found_in(await dump_of(server, fresh_db), address)
    encodings = ("plain", "percent", "plain in bytes", "percent in bytes")
    assert {*encodings, "quoted-printable in bytes", "base64 in bytes"} <= before.keys()
    assert found_in(files_in(warm, shelf), address)
    capfd.readouterr()

    progress = await erased(desk, address)

    assert progress.is_done
    assert found_in(await dump_of(server, fresh_db), address) == {}
    assert found_in(files_in(warm, shelf), address) == {}
    assert found_in("".join(capfd.readouterr()).encode(), address) == {}
    left = await make.rows(conn, "SELECT url FROM mailqueue.tracked_links ORDER BY url")
    assert {url for (url,) in left} == {
        f"https://shop.example/login?n={n}&email=erased@erased.invalid&x=1" for n in range(3)
    }
    assert await make.rows(conn, "SELECT * FROM mailqueue.books WHERE difference <> 0") == []


async def test_a_key_of_test_mail_is_deleted_too(desk: MaintenanceContext) -> None:
    conn, address = desk.conn, "cal@privat.example"
    await make.sender_account(conn)
    await make.queued_email(conn, recipient_email=address, idempotency_key=f"x-{address}")
    await make.queued_email(conn, recipient_email=address, idempotency_key="y-12")
    await make.queued_email(conn, recipient_email=BOB, idempotency_key=f"for-pas{address}")
    await send_all(conn)
    await conn.execute("UPDATE mailqueue.email_history SET is_test = true")
    await conn.execute("UPDATE mailqueue.idempotency_keys SET key = E'test\\x1f' || key")
    before = await _keys(conn)

    await erased(desk, address)

    after = await _keys(conn)
    kept, others = "test\x1fy-12", f"test\x1ffor-pas{address}"
    assert before.keys() == {kept, others, f"test\x1fx-{address}"}
    assert after.keys() == {kept, others}
    assert after[kept] != before[kept], "a repeated request is rejected"
    assert after[others] == before[others], "another person's"


async def test_a_key_of_archived_mail_loses_its_fingerprint(desk: MaintenanceContext) -> None:
    conn, address = desk.conn, "cal@privat.example"
    await make.sender_account(conn)
    await make.queued_email(conn, recipient_email=address, idempotency_key="hers")
    await make.queued_email(conn, recipient_email=BOB, cc=[address], idempotency_key="both")
    await make.queued_email(conn, recipient_email=BOB, idempotency_key="his")
    await send_all(conn)
    await aged(conn)
    await archive_task.run(desk)
    before = await _keys(conn)

    await erased(desk, address)

    after = await _keys(conn)
    assert [key for key in ("hers", "both", "his") if after[key] == before[key]] == ["his"]


async def test_a_key_of_archived_mail_that_other_mail_has_now_keeps_its_fingerprint(
    desk: MaintenanceContext,
) -> None:
    conn, address = desk.conn, "cal@privat.example"
    await make.sender_account(conn)
    await make.queued_email(conn, recipient_email=address, idempotency_key="weekly")
    await send_all(conn)
    await aged(conn)
    await archive_task.run(desk)
    await conn.execute("DELETE FROM mailqueue.idempotency_keys")  # it is kept for some days
    await make.queued_email(conn, recipient_email=BOB, idempotency_key="weekly")
    before = await _keys(conn)

    await erased(desk, address)

    assert await _keys(conn) == before


async def _keys(conn: Conn) -> dict[str, bytes]:
    found = await make.rows(conn, "SELECT key, fingerprint FROM mailqueue.idempotency_keys")
    return dict(found)


async def test_mail_sent_after_an_erasure_leads_where_it_says(desk: MaintenanceContext) -> None:
    conn, address = desk.conn, "cal@privat.example"
    link = TrackedLink(
        await make.project_named(conn), bytes(12), f"https://a.example/?to={address}"
    )
    await tracking_store.keep_links(conn, [link])
    await erased(desk, address)
    [erased_link] = await tracking_store.find_links(conn, [(link.project_id, link.link)])

    await tracking_store.keep_links(conn, [link])

    assert erased_link.url == "https://a.example/?to=erased@erased.invalid"
    assert await tracking_store.find_links(conn, [(link.project_id, link.link)]) == [link]


def test_the_search_of_dumps_knows_every_encoding() -> None:
    address = "cal@bücher.example"
    for form in forms_of(address):
        text = form.decode()
        for octets in (
            form,
            text.upper().encode(),
            quote(text, safe="").encode(),
            quopri.encodestring(form, quotetabs=True),
            base64.encodebytes(b"x" * 50 + form + b"x" * 50),
            text.replace("@", "\\u0040").encode(),
            b"\\\\x" + form.hex().encode(),
            b"\\\\x" + base64.b64encode(b"12345" + form).hex().encode(),
        ):
            assert found_in(b"before " + octets + b" after", address), octets
    assert found_in(b"nothing of hal@privat.example", address) == {}

"""Whoever asks to be forgotten is: in every table, in what they were sent, and in files."""

import base64
import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import pytest

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.maintenance import archive
from mailqueue.maintenance.desk import Desk, Stores
from mailqueue.ports.filestore import Store
from mailqueue.privacy import erasing, persons, store
from mailqueue.privacy.model import Progress
from mailqueue.suppression import entries
from tests import make
from tests.maintenance.old_mail import aged
from tests.privacy.planting import ANN, in_files, let_anything_in, naming, plant
from tests.queue.acting import claim, settle

pytestmark = pytest.mark.anyio


async def erased(
    desk: Desk, email: str = ANN, *, project: str = "default", suppress: bool = False
) -> Progress:
    lend = persons.lending(desk.conn)
    (one,) = await persons.projects(desk.conn, project)
    spellings = persons.spellings_of(email)
    begun = await erasing.begin(lend, one.id, spellings, suppress=suppress, by="tests")
    return await erasing.go_on(lend, begun, desk=desk, by="tests")


async def sent(conn: Conn, **columns: object) -> UUID:
    """Have one mail of project default sent."""
    if not await make.scalar(conn, "SELECT count(*) FROM mailqueue.sender_accounts"):
        await make.sender_account(conn)
    mail = await make.queued_email(conn, **{"recipient_email": ANN, **columns})
    worker = await make.worker(conn)
    claims = await claim(conn, worker)
    await settle(conn, claims, Ending.SENT, log=LogStatus.SENT)
    return mail


async def row(conn: Conn, table: str, where: str, *params: object) -> dict[str, object]:
    query = f"SELECT to_jsonb(t)::text FROM mailqueue.{table} AS t WHERE {where}"
    found: dict[str, object] = json.loads(await make.scalar(conn, query, *params))
    return found


async def test_no_column_of_any_table_names_them_any_more(desk: Desk) -> None:
    """Tables that come later are planted and looked through as well."""
    conn = desk.conn
    tables = await store.tables(conn)
    await let_anything_in(conn)
    planted = await plant(conn, tables, await make.project_named(conn))
    assert await naming(conn, tables) == planted
    assert len(planted) > 100

    progress = await erased(desk)

    assert progress.is_done
    assert await naming(conn, tables) == set()


async def test_every_kind_of_column_for_words_is_known(conn: Conn) -> None:
    kinds = await make.rows(
        conn,
        "SELECT DISTINCT t.typname::text FROM pg_attribute AS a"
        " JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid"
        " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')"
        " AND a.attnum > 0 AND t.typcategory IN ('S', 'U', 'A', 'X', 'C')"
        " AND t.typname NOT IN ('uuid', '_uuid', '_int4', '_int8', '_interval', 'xid8')",
    )

    assert {kind for (kind,) in kinds} <= {"text", "_text", "json", "jsonb", "bytea", "name"}


async def test_a_mail_loses_who_it_went_to_and_what_it_said(desk: Desk) -> None:
    mail = await sent(
        desk.conn,
        recipient_name="Ann Smith",
        subject="Your illness",
        custom_data='{"patient": 12}',
        idempotency_key="visit-12",
        campaign_id="spring",
    )

    await erased(desk)

    found = await row(desk.conn, "email_history", "id = %s", mail)
    assert (found["recipient_email"], found["recipient_name"]) == ("erased@erased.invalid", None)
    gone = ("custom_data", "idempotency_key", "message_id", "provider_message_id", "last_error")
    assert [found[name] for name in gone] == [None] * 5
    assert (found["status"], found["campaign_id"]) == ("sent", "spring")
    content = await row(desk.conn, "email_contents", "id = %s", found["content_id"])
    assert (content["subject"], content["text_body"]) == ("erased", "erased")
    log = await row(desk.conn, "send_logs", "email_id = %s", mail)
    assert (log["recipient_email"], log["reply"]) == ("erased@erased.invalid", None)
    assert await make.rows(desk.conn, "SELECT * FROM mailqueue.books WHERE difference <> 0") == []


async def test_what_others_were_sent_too_stays(desk: Desk) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    hers = await make.queued_email(conn, recipient_email=ANN, text_body=f"Ask {ANN}")
    his = await make.queued_email(conn, recipient_email="bob@example.com")
    # As mail of one call to several people has it.
    await make.by_hand(conn)
    await conn.execute(
        "UPDATE mailqueue.email_queue AS q SET content_id = o.content_id"
        " FROM mailqueue.email_queue AS o WHERE q.id = %s AND o.id = %s",
        (his, hers),
    )
    await make.queued_email(conn, recipient_email="bob@example.com", text_body="Only Bob")
    worker = await make.worker(conn)
    await settle(conn, await claim(conn, worker), Ending.SENT, log=LogStatus.SENT)

    await erased(desk)

    texts = {
        text for (text,) in await make.rows(conn, "SELECT text_body FROM mailqueue.email_contents")
    }
    assert "Only Bob" in texts
    assert "Ask erased@erased.invalid" in texts
    left = await make.rows(conn, "SELECT recipient_email FROM mailqueue.email_history ORDER BY 1")
    assert [each for (each,) in left] == [
        "bob@example.com",
        "bob@example.com",
        "erased@erased.invalid",
    ]


async def test_unfinished_mail_to_them_is_cancelled(desk: Desk) -> None:
    await make.sender_account(desk.conn)
    mail = await make.queued_email(desk.conn, recipient_email="Ann@Example.com")

    await erased(desk)

    found = await row(desk.conn, "email_history", "id = %s", mail)
    assert (found["status"], found["reason"]) == ("cancelled", "erased")


@pytest.mark.parametrize("first", [True, False])
async def test_mail_to_several_goes_to_the_others(desk: Desk, first: bool) -> None:
    await make.sender_account(desk.conn)
    to, cc = (ANN, "bob@example.com") if first else ("bob@example.com", ANN)
    mail = await make.queued_email(desk.conn, recipient_email=to, cc=[cc, "cy@example.com"])

    await erased(desk)

    found = await row(desk.conn, "email_queue", "id = %s", mail)
    assert (found["recipient_email"], found["recipients"]) == ("bob@example.com", 2)
    left = await make.rows(
        desk.conn,
        "SELECT position = 0, address FROM mailqueue.email_recipients WHERE email_id = %s"
        " ORDER BY position",
        mail,
    )
    assert left == [(True, "bob@example.com"), (False, "cy@example.com")]
    claims = await claim(desk.conn, await make.worker(desk.conn))
    assert [each.id for each in claims] == [mail]


async def test_mail_a_worker_holds_is_waited_for(desk: Desk) -> None:
    await make.sender_account(desk.conn)
    await make.queued_email(desk.conn, recipient_email=ANN)
    claims = await claim(desk.conn, await make.worker(desk.conn))

    first = await erased(desk)
    await settle(desk.conn, claims, Ending.SENT, log=LogStatus.SENT)
    second = await erased(desk)

    assert (first.is_done, first.waiting) == (False, 1)
    assert second.is_done
    assert second.erasure.id == first.erasure.id


async def test_what_suppressed_them_goes_on_by_a_hash(desk: Desk) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    await conn.execute(
        "INSERT INTO mailqueue.unsubscribe_list (email, category) VALUES (%s, 'marketing')", (ANN,)
    )
    before = await entries.check(conn, "default", email=ANN, category="marketing")

    await erased(desk)

    after = await entries.check(conn, "default", email=ANN, category="marketing")
    assert (before.is_suppressed, after.is_suppressed) == (True, True)
    assert (after.reason, after.found[0].address) == (before.reason, None)
    for category, is_sent in (("marketing", False), ("transactional", True)):
        mail = await make.queued_email(conn, recipient_email="ANN@example.com", category=category)
        status = await make.scalar(conn, "SELECT status FROM mailqueue.emails WHERE id = %s", mail)
        assert (status == "pending") == is_sent
    gone = await entries.remove_by_hash(
        conn, "default", address_hash=after.address_hash, by="tests"
    )
    assert (gone.address, gone.count) == (None, 1)


async def test_on_request_nothing_is_ever_sent_to_them_again(desk: Desk) -> None:
    await make.sender_account(desk.conn)

    await erased(desk, suppress=True)

    mail = await make.queued_email(desk.conn, recipient_email=ANN)
    status = await make.scalar(desk.conn, "SELECT status FROM mailqueue.emails WHERE id = %s", mail)
    assert status == "suppressed"


async def test_mail_that_was_erased_is_never_sent_again(desk: Desk) -> None:
    await make.sender_account(desk.conn)
    mail = await make.queued_email(desk.conn, recipient_email=ANN)
    await erased(desk)

    await desk.conn.execute(
        "SELECT * FROM mailqueue.requeue_emails(%s, %s)",
        (await make.project_named(desk.conn), [mail]),
    )

    assert await claim(desk.conn, await make.worker(desk.conn)) == []


async def test_another_project_and_another_person_keep_theirs(desk: Desk) -> None:
    conn = desk.conn
    await make.sender_account(conn, project_id=await make.project(conn, "other"))
    await make.sender_account(conn)
    others = await make.queued_email(conn, project="other", recipient_email=ANN)
    joann = await make.queued_email(conn, recipient_email="joann@example.com")

    await erased(desk)

    for mail, address in ((others, ANN), (joann, "joann@example.com")):
        found = await row(conn, "email_queue", "id = %s", mail)
        assert found["recipient_email"] == address


async def test_what_people_set_up_is_told_and_stays(desk: Desk) -> None:
    await make.sender_account(desk.conn, name="relay", email=ANN, status_reason=f"as {ANN} said")
    (project,) = await persons.projects(desk.conn, "default")
    counted = await persons.count(persons.lending(desk.conn), project, persons.spellings_of(ANN))

    await erased(desk)

    assert [(one.table, one.rows, one.is_settings) for one in counted] == [
        ("sender_accounts", 1, True)
    ]
    found = await row(desk.conn, "sender_accounts", "name = 'relay'")
    assert (found["email"], found["status_reason"]) == (ANN, "as erased@erased.invalid said")


async def test_the_audit_says_that_and_not_whom(desk: Desk) -> None:
    progress = await erased(desk)

    found = await row(desk.conn, "audit_events", "action = 'person.erased'")
    assert found["actor"] == "tests"
    assert found["subject"] == f"address {progress.erasure.address_hash}"
    kept = await row(desk.conn, "erasures", "id = %s", progress.erasure.id)
    assert (kept["spellings"], kept["place"], kept["stage"]) == (None, {}, "done")


async def test_archived_mail_is_erased_in_its_files(desk: Desk, warm: Path) -> None:
    conn = desk.conn
    await sent(conn, subject="Your illness", custom_data='{"patient": 12}')
    await sent(conn, recipient_email="bob@example.com", subject="For Bob", text_body=f"see {ANN}")
    await make.queued_email(conn, recipient_email="bob@example.com", cc=[f"Ann S <{ANN}>"])
    worker = await make.worker(conn)
    await settle(conn, await claim(conn, worker), Ending.SENT, log=LogStatus.SENT)
    await aged(conn)
    await archive.run(desk)
    assert in_files(warm)
    before = await make.rows(conn, "SELECT kind, records FROM mailqueue.archives ORDER BY 1")

    progress = await erased(desk)

    assert progress.is_done
    assert in_files(warm) == []
    text = "\n".join(_all_lines(warm))
    assert "illness" not in text
    assert "patient" not in text
    assert "Ann S" not in text
    assert "For Bob" in text
    after = await make.rows(conn, "SELECT kind, records FROM mailqueue.archives ORDER BY 1")
    assert after == before
    assert await make.rows(conn, "SELECT * FROM mailqueue.books WHERE difference <> 0") == []
    assert (await erased(desk)).is_done


def _all_lines(folder: Path) -> list[str]:
    return [
        line
        for path in sorted(folder.rglob("*.gz"))
        for line in gzip.decompress(path.read_bytes()).decode().splitlines()
    ]


async def test_files_go_that_only_they_were_sent(desk: Desk) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    await conn.execute("UPDATE mailqueue.projects SET attachment_types = '{text/plain}'")
    for email, name in ((ANN, "hers"), (ANN, "both"), ("bob@example.com", "both")):
        octets = base64.b64encode(f"{name} about {ANN}".encode()).decode()
        files = [{"filename": f"{name}.txt", "content": octets, "content_type": "text/plain"}]
        await make.queued_email(conn, recipient_email=email, attachments=json.dumps(files))

    await erased(desk)

    left = await make.rows(
        conn, "SELECT octets, sha256 = sha256(octets) FROM mailqueue.attachments"
    )
    assert left == [(b"both about xxxxxxxxxxxxxxx", True)]


async def test_step_by_step_is_all_the_same(desk: Desk, warm: Path) -> None:
    await sent(desk.conn, subject="Your illness")
    await aged(desk.conn)
    await archive.run(desk)
    for _ in range(3):
        await sent(desk.conn, subject="Your illness again")
    lend = persons.lending(desk.conn)
    project_id = await make.project_named(desk.conn)
    begun = await erasing.begin(lend, project_id, persons.spellings_of(ANN), by="tests")

    for _ in range(100):
        progress = await erasing.go_on(lend, begun, desk=desk, by="tests", may_go_on=lambda: False)
        if progress.is_done:
            break

    assert progress.is_done
    await _is_gone(desk, warm)


@dataclass(slots=True)
class _Failing:
    """Stores that are away from the n-th time on they are asked for, until mended."""

    stores: Stores
    left: int

    def __getattr__(self, name: str) -> object:
        return getattr(self.stores, name)

    def at(self, url: str) -> Store:
        self.left -= 1
        if self.left < 0:
            raise Unavailable("the store is away")
        return self.stores.at(url)


@pytest.mark.parametrize(
    "times", [0, 5, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 2, 3, 4, 6, 7, 8))]
)
async def test_a_store_that_was_away_is_caught_up_with(desk: Desk, warm: Path, times: int) -> None:
    await sent(desk.conn, subject="Your illness")
    await aged(desk.conn)
    await archive.run(desk)
    await sent(desk.conn, subject="Your illness again")
    failing = replace(desk, stores=_Failing(desk.stores, times))

    with pytest.raises(Unavailable):
        await erased(failing)
    assert (await erased(desk)).is_done

    await _is_gone(desk, warm)


async def _is_gone(desk: Desk, warm: Path) -> None:
    assert in_files(warm) == []
    assert "illness" not in "".join(_all_lines(warm))
    assert await naming(desk.conn, await store.tables(desk.conn)) == set()
    said = await make.rows(desk.conn, "SELECT DISTINCT subject FROM mailqueue.email_contents")
    assert said == [("erased",)]

"""Lists of mail by a part of the subject or recipient, by template and provider, at which cost."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.model import EmailQuery
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.mail.enqueueing import enqueue
from tests.templates.making import published

pytestmark = pytest.mark.anyio
READ = """
    SELECT sum(seq_tup_read)::integer, sum(idx_tup_fetch)::integer FROM pg_stat_xact_user_tables
    WHERE relname LIKE 'email_contents%'
"""


async def found(conn: Conn, **filters: str) -> list[str]:
    query = EmailQuery(project_id=await make.project_named(conn), **filters)  # type: ignore[arg-type]
    return [str(each.subject) for each in (await emails.search_page(conn, query)).emails]


@pytest.mark.parametrize("is_finished", [False, True])
async def test_a_part_of_the_subject_or_of_the_recipient_finds_mail(
    conn: Conn, is_finished: bool
) -> None:
    for subject, address in (
        ("Invoice 100%", "ann@example.com"),
        ("Invoice 1000", "ben@example.com"),
        ("Grüße", "carl@shop.example"),
    ):
        await make.queued_email(conn, subject=subject, recipient_email=address)
    if is_finished:
        await make.sender_account(conn)
        claims = await claim(conn, await make.worker(conn))
        await settle(conn, claims, Ending.FAILED, log=LogStatus.FAILED, reason="550 no")
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_history") == 3

    assert await found(conn, contains="VOICE 100%") == ["Invoice 100%"]
    assert await found(conn, contains="GRÜ") == ["Grüße"]
    assert await found(conn, contains="BEN@ex") == ["Invoice 1000"]
    assert await found(conn, contains="@example") == ["Invoice 1000", "Invoice 100%"]
    assert await found(conn, contains="_") == []
    assert await found(conn, contains="invoice", to="ann@example.com") == ["Invoice 100%"]


async def test_mail_is_found_by_template_and_by_provider(conn: Conn) -> None:
    project = await make.project_named(conn)
    await published(conn, project, slug="news")
    await published(conn, project, slug="other")
    for template in ("news", "other"):
        options = {"template": template, "variables": {"name": "Ann"}}
        await enqueue(conn, NewEmail("ann@example.com", None, options=options), project="default")
    await make.queued_email(conn, subject="Sent")
    await make.sender_account(conn, provider="ses")
    assert len(await found(conn, template="news")) == 1
    assert await found(conn, template="none") == await found(conn, provider="ses") == []
    claims = await claim(conn, await make.worker(conn))
    await settle(conn, claims, Ending.FAILED, log=LogStatus.FAILED, reason="550 no")

    assert len(await found(conn, provider="ses")) == 3
    assert len(await found(conn, template="news", provider="ses")) == 1
    assert await found(conn, provider="sendgrid") == []


async def test_a_page_of_a_search_looks_at_so_many_emails_and_the_next_goes_on(
    conn: Conn,
) -> None:
    project = await make.project_named(conn)
    wanted = await make.queued_email(conn, subject="The wanted one")
    await make.queued_emails(conn, 50)
    query = EmailQuery(project_id=project, contains="wanted", limit=5)
    before, pages = None, list[list[UUID]]()
    async with conn.transaction():
        await conn.execute("SET LOCAL enable_seqscan = off")  # a small table is read as a whole
        base = (await make.rows(conn, READ))[0]
        while True:
            page = await emails.search_page(
                conn, EmailQuery(project_id=project, contains="wanted", before=before), looked=20
            )
            pages.append([each.id for each in page.emails])
            if len(pages) == 1:
                read = (await make.rows(conn, READ))[0]
            before = page.next
            if before is None:
                break

    assert pages == [[], [], [wanted]]
    assert read[0] == base[0]
    assert read[1] - base[1] <= 20
    everything = await emails.search_page(conn, query)
    assert [each.id for each in everything.emails] == [wanted]
    assert not everything.is_cut

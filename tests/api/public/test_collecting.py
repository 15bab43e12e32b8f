"""A worker collects what is stored about a person: what is theirs, part by part."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import partial
from uuid import UUID

import pytest

from mailqueue.analytics.exports.handler import PART_CHARACTERS, ExportHandler
from mailqueue.core.secret import Secret
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.collecting import collect
from mailqueue.privacy.exporting import mails
from mailqueue.privacy.model import ProjectName
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.own_data import DOWNLOAD, asked, someone, worked
from tests.api.support.recipient_links import Leaving, leaving
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        yield made


async def test_what_only_mentions_a_person_stays_with_those_whom_it_is_about(shop: Leaving) -> None:
    ann, ben = someone(), someone()
    await shop.mail(ben, html_body=f"<p>{ann} invites you: https://example.com/join/SECRET</p>")
    for email, why in ((ben, f"the same person as {ann}"), (ann, "asked by phone")):
        asking = {"email": email, "category": "marketing", "detail": why}
        answer = await shop.http.post(
            "/v1/suppressions", json=asking, headers={"X-API-Key": shop.key}
        )
        assert answer.status_code == 200, answer.text
    link = await asked(shop, ann)
    await worked(shop)
    file = await shop.http.post(link, data=DOWNLOAD)

    assert "asked by phone" in file.text
    assert [text for text in (ben, "SECRET", "the same person") if text in file.text] == []


async def test_a_mail_to_several_names_no_other_recipient_to_each_of_them(shop: Leaving) -> None:
    ann, ben, eve = someone(), someone(), someone()
    message = {"to": ann, "cc": [ben], "bcc": [eve], "subject": "To us", "text": "Hello"}
    sent = await shop.http.post("/v1/send", json=message, headers={"X-API-Key": shop.key})
    assert sent.status_code == 202, sent.text
    named = {}
    for who in (ann, ben, eve):
        link = await asked(shop, who)
        await worked(shop)
        text = (await shop.http.post(link, data=DOWNLOAD)).text
        assert "To us" in text
        named[who] = [one for one in (ann, ben, eve) if one in text]

    assert named == {who: [who] for who in (ann, ben, eve)}


async def test_what_was_collected_before_an_erasure_is_not_written(shop: Leaving) -> None:
    ann, ben = someone(), someone()
    link = await asked(shop, ann)
    calls, erased = 0, list[str]()

    async def erased_meanwhile(
        project_id: UUID, project: str, address: str
    ) -> AsyncGenerator[Sequence[str]]:
        nonlocal calls
        calls += address == ann
        async for lines in collect(shop.database, project_id, project, address):
            yield lines
            if address == ann and calls == 1 and not erased:
                erased.append(ben)
                await shop.conn.execute(
                    "SELECT mailqueue.begin_erasure(%s, %s, false, 'tests')", (project_id, erased)
                )

    handler = ExportHandler(shop.database, erased_meanwhile)
    await work_once(shop.database, "exports", handler)
    file = await shop.http.post(link, data=DOWNLOAD)

    rows = json.loads(file.content)
    emails = [row["record"]["id"] for row in rows if row["table"] == "mails"]
    assert calls == 2
    assert len(emails) == len(set(emails)) == 2


async def test_parts_of_a_claim_that_ended_are_collected_again(shop: Leaving) -> None:
    ann = someone()
    await shop.mail(ann, subject="The first")
    link = await asked(shop, ann)

    async def ends(project_id: UUID, project: str, address: str) -> AsyncGenerator[Sequence[str]]:
        async for lines in collect(shop.database, project_id, project, address):
            yield lines
            raise RuntimeError("the process ends")

    await work_once(shop.database, "exports", ExportHandler(shop.database, ends))
    parts = "SELECT parts FROM mailqueue.exports WHERE filter ->> 'email' = %s"
    before = await make.scalar(shop.conn, parts, ann)
    await shop.conn.execute(
        "UPDATE mailqueue.exports SET run_at = now() WHERE filter ->> 'email' = %s", (ann,)
    )
    await worked(shop)
    rows = json.loads((await shop.http.post(link, data=DOWNLOAD)).content)
    emails = [row["record"]["id"] for row in rows if row["table"] == "mails"]

    assert before == 1
    assert len(emails) == len(set(emails)) == 3


async def test_large_mail_of_a_person_is_written_in_several_parts(shop: Leaving) -> None:
    who = someone()
    for _ in range(3):
        await shop.mail(who, html_body=f"<p>{'x' * PART_CHARACTERS}</p>")
    link = await asked(shop, who)
    handler = ExportHandler(shop.database, partial(collect, shop.database))
    await work_once(shop.database, "exports", handler)
    query = (
        "SELECT p.rows FROM mailqueue.export_parts AS p JOIN mailqueue.exports AS x"
        " ON x.id = p.export_id WHERE x.filter ->> 'email' = %s ORDER BY p.number"
    )
    parts = [rows for (rows,) in await make.rows(shop.conn, query, who)]
    file = await shop.http.post(link, data=DOWNLOAD)

    assert parts[:3] == [1, 1, 1]
    assert len(json.loads(file.content)) == sum(parts)


async def test_few_mails_with_large_texts_are_read_together(shop: Leaving) -> None:
    who, large = someone(), "x" * (3 * 1024 * 1024)
    await shop.conn.execute(
        "SELECT mailqueue.enqueue_batch((SELECT name FROM mailqueue.projects WHERE id = %s),"
        " (SELECT jsonb_agg(jsonb_build_object('recipient', %s::text, 'subject', 'Large ' || n,"
        " 'text', %s::text)) FROM generate_series(1, 7) AS n))",
        (shop.project_id, who, large),
    )
    named = ProjectName(shop.project_id, "shop")
    pages = [
        [one["subject"] for one in (mail["content"] for mail in some)]
        async for some in mails(persons.lending(shop.conn), named, persons.spellings_of(who))
    ]

    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(one for page in pages for one in page) == [f"Large {n}" for n in range(1, 8)]


async def test_the_file_of_an_erased_person_is_not_written(shop: Leaving) -> None:
    who = someone()
    link = await asked(shop, who)
    lend = persons.lending(shop.conn)
    erasure = await erasing.begin(lend, shop.project_id, persons.spellings_of(who), by="tests")
    assert (await erasing.go_on(lend, erasure, by="tests")).is_done
    await worked(shop)
    files = await make.scalar(shop.conn, "SELECT count(*) FROM mailqueue.export_parts")
    page = await shop.http.get(link)

    assert (page.status_code, "no longer works" in page.text) == (404, True)
    assert files == 0

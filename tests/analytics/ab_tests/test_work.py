"""A/B tests: assignment, one evaluation, and the winner to those that waited."""

from collections import Counter

import pytest

from mailqueue.analytics.ab_tests import requests, store
from mailqueue.analytics.ab_tests.decision import AbTestAnswer
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.ab_tests import steps

pytestmark = pytest.mark.anyio


async def test_each_recipient_gets_its_variant_once_whatever_the_order_of_calls(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn)
        rows = await steps.sent_to(conn, test.id, 200)
        again = await steps.sent_to(conn, test.id, 210)

        assert {one.status for one in rows} == {"queued"}
        counts = Counter(one.variant for one in rows)
        assert counts["A"] + counts["B"] == 200
        assert 60 <= counts["A"] <= 140  # a share of a half
        assert await steps.subjects(conn, test.id, is_sample=True) == Counter(
            {"Hello": counts["A"] + Counter(one.variant for one in again[200:])["A"]}
        ) + Counter(
            {"Spring is here": counts["B"] + Counter(one.variant for one in again[200:])["B"]}
        )
        assert [one.status for one in again] == ["duplicate"] * 200 + ["queued"] * 10
        assert [(one.id, one.variant) for one in again[:200]] == [
            (one.id, one.variant) for one in rows
        ]


async def test_spellings_of_one_address_are_one_recipient(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn)
        people = [{"recipient": "Ann@Example.com"}, {"recipient": "ann@example.com"}]
        rows = await requests.add(conn, "default", test.id, people)
        assert [one.status for one in rows] == ["queued", "duplicate"]
        assert rows[0].id == rows[1].id


async def test_another_test_assigns_the_same_recipients_anew(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        first, second = await steps.created(conn), await steps.created(conn)
        one = [row.variant for row in await steps.sent_to(conn, first.id, 200)]
        other = [row.variant for row in await steps.sent_to(conn, second.id, 200)]
        same = sum(a == b for a, b in zip(one, other, strict=True))
        assert 50 <= same <= 150


async def test_the_others_wait_and_get_the_winner(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn, sample_percent=60)
        rows = await steps.sent_to(conn, test.id, 100)
        waiting = [one for one in rows if one.status == "waiting"]
        assert 20 <= len(waiting) <= 60
        assert all(one.id is None and one.variant is None for one in waiting)
        await steps.finished(conn, [one.id for one in rows])
        await steps.happened(conn, steps.of_variant(rows, "B"))
        await steps.happened(conn, steps.of_variant(rows, "A"), is_machine=True)
        assert await steps.worked(database) == 0  # its time is not over

        await steps.time_over(conn, test.id)
        assert await steps.worked(database) == 1
        found = await requests.find(conn, None, test.id)
        assert (found.state, found.result, found.winner) == ("completed", "winner", "B")
        one, other = found.variants
        assert (one.opened, other.opened) == (0, len(steps.of_variant(rows, "B")))
        assert one.sent + other.sent == 100 - len(waiting)
        assert other.p_value is not None
        assert other.p_value < 0.05
        assert found.waiting == 0
        rest = await steps.subjects(conn, test.id, is_sample=False)
        assert rest == Counter({"Spring is here": len(waiting)})
        kept = "SELECT count(recipient) FROM mailqueue.ab_test_recipients"
        assert await make.scalar(conn, kept) == 0
        key = "SELECT assignment_key FROM mailqueue.ab_tests"
        assert await make.scalar(conn, key) is None


@pytest.mark.parametrize(("if_none", "expected"), [("first", {"Hello"}), ("shares", None)])
async def test_without_a_difference_the_others_get_what_was_fixed_before(
    database: DatabaseSettings, if_none: str, expected: set[str] | None
) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn, sample_percent=50, if_none=if_none)
        rows = await steps.sent_to(conn, test.id, 100)
        await steps.finished(conn, [one.id for one in rows])
        await steps.time_over(conn, test.id)
        await steps.worked(database)

        found = await requests.find(conn, None, test.id)
        assert (found.result, found.winner) == ("no_difference", None)
        assert [one.p_value for one in found.variants] == [None, 1.0]
        rest = await steps.subjects(conn, test.id, is_sample=False)
        assert set(rest) == (expected or {"Hello", "Spring is here"})


async def test_too_few_emails_are_an_answer_of_their_own(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn, min_sample=1000)
        rows = await steps.sent_to(conn, test.id, 40)
        await steps.finished(conn, [one.id for one in rows])
        await steps.time_over(conn, test.id)
        await steps.worked(database)
        found = await requests.find(conn, None, test.id)
        assert (found.state, found.result) == ("completed", "too_few")


async def test_a_test_is_evaluated_once_and_its_numbers_stay(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn)
        rows = await steps.sent_to(conn, test.id, 40)
        await steps.finished(conn, [one.id for one in rows])
        await steps.time_over(conn, test.id)
        await steps.worked(database)
        before = await requests.find(conn, None, test.id)
        await steps.happened(conn, steps.of_variant(rows, "B"))
        await conn.execute(
            "UPDATE mailqueue.ab_tests SET status = 'pending', finished_at = NULL, run_at = now()"
        )
        await steps.worked(database)

        after = await requests.find(conn, None, test.id)
        assert (after.result, after.decided_at) == (before.result, before.decided_at)
        assert after.variants == before.variants


async def test_a_late_worker_decides_nothing(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn)
        await steps.sent_to(conn, test.id, 10)
        await steps.time_over(conn, test.id)
        taken = await store.take(conn, test.id, claim_no=7)
        assert taken.state == "lost"
        answer = AbTestAnswer("winner", 1, (None, 0.01))
        counts = taken._replace(sent=[1, 1], opened=[0, 1], clicked=[0, 0])
        await store.record(conn, test.id, claim_no=7, taken=counts, answer=answer)
        assert await store.advance(conn, test.id, claim_no=7, limit=10) == "lost"
        assert (await requests.find(conn, None, test.id)).result is None


async def test_a_person_decides_before_the_evaluation(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        test = await steps.created(conn, sample_percent=50)
        await steps.sent_to(conn, test.id, 60)
        with pytest.raises(InvalidField, match="no variant"):
            await requests.decide(conn, project, test.id, variant="C", by="ann")
        decided = await requests.decide(conn, project, test.id, variant="A", by="ann")
        assert (decided.state, decided.result, decided.decided_by) == ("sending", "by_hand", "ann")
        with pytest.raises(Conflict):
            await requests.decide(conn, project, test.id, variant="B", by="ann")
        with pytest.raises(Conflict):
            await steps.sent_to(conn, test.id, 1, first=60)
        await steps.worked(database)

        found = await requests.find(conn, None, test.id)
        assert (found.state, found.winner, found.waiting) == ("completed", "A", 0)
        assert set(await steps.subjects(conn, test.id, is_sample=False)) == {"Hello"}


async def test_a_cancelled_test_sends_the_others_nothing(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        test = await steps.created(conn, sample_percent=50)
        rows = await steps.sent_to(conn, test.id, 60)
        assert (await requests.cancel(conn, project, test.id, by="ann")).state == "cancelling"
        with pytest.raises(Conflict):
            await requests.cancel(conn, project, test.id, by="ann")
        await steps.worked(database)

        found = await requests.find(conn, None, test.id)
        assert (found.state, found.result, found.waiting) == ("cancelled", None, 0)
        queued = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
        assert queued == sum(one.status == "queued" for one in rows)


async def test_a_recipient_whose_address_is_suppressed_gets_no_mail_of_the_winner(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await make.project_named(conn)
        test = await steps.created(conn, sample_percent=50)
        rows = await steps.sent_to(conn, test.id, 40)
        late = next(one.index for one in rows if one.status == "waiting")
        await make.inserted(
            conn,
            "suppressions",
            {
                "project_id": project,
                "address": f"person{late}@example.com",
                "reason": "manual",
                "source": "tests",
            },
        )
        await requests.decide(conn, project, test.id, variant="A", by="ann")
        await steps.worked(database)
        again = "SELECT outcome, count(*) FROM mailqueue.ab_test_recipients GROUP BY 1"
        counts = dict(await make.rows(conn, again))
        assert counts["suppressed"] == 1

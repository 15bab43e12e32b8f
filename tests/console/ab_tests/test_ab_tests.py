"""A/B tests in the console: created by a form, sent, compared in words, decided and cancelled."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from mailqueue.console.ab_tests.acting import NewAbTestForm, wanted_of
from mailqueue.console.ab_tests.pages import answer_of, comparison_of
from mailqueue.contract.automation.ab_tests import AbTest
from mailqueue.core.errors import InvalidField
from tests import make
from tests.analytics.ab_tests import steps
from tests.console.visiting import Visiting, Visitor
from tests.rows import each_row
from tests.templates.making import published

pytestmark = pytest.mark.anyio

TESTS = "/console/projects/default/ab-tests"
NEW = f"{TESTS}/new"
HOSTILE = "<b>A & B"
SPRING = {
    "name": HOSTILE,
    "variants": "Spring is here\r\n\r\nHello <i>spring</i>\r\n",
    "html": "<p>Hello</p>",
    "shares": "60, 40 %",
    "sample_percent": "20",
    "min_sample": "5",
}


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def created(visitor: Visitor, **fields: str) -> str:
    """Create a test by the form; return the path of its page."""
    response = await visitor.submit(NEW, NEW, **(SPRING | fields))
    assert response.status_code == 303, response.text
    path, _, done = str(response.headers["location"]).partition("?")
    assert done == "done=created"
    return path


def texts_of(html: str) -> str:
    """Return what a page says, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


async def test_a_test_is_created_sent_decided_by_hand_and_all_of_it_audited(
    console: Visiting, visitor: Visitor
) -> None:
    empty = (await visitor.get(TESTS)).text
    path = await created(visitor, campaign_id="spring")
    fresh, listed = (await visitor.get(path)).text, (await visitor.get(TESTS)).text
    addresses = "\r\n".join(f"person{n}@example.com" for n in range(40))
    sending = f"{path}/recipients"
    sent = await visitor.submit(sending, sending, recipients=addresses)
    running = (await visitor.get(str(sent.headers["location"]))).text
    asked = (await visitor.get(f"{path}/choose-B")).text
    chosen = await visitor.submit(f"{path}/choose-B", f"{path}/choose-B")
    again = await visitor.post(f"{path}/choose-B", {"token": visitor.token(f"{path}/choose-B")})
    over = (await visitor.get(str(chosen.headers["location"]))).text
    async with console.connection() as conn:
        actions = await make.rows(
            conn,
            "SELECT action, actor FROM mailqueue.audit_events WHERE action LIKE 'ab_test%%'"
            " ORDER BY id",
        )
        queued = await make.scalar(
            conn, "SELECT count(*) FROM mailqueue.email_queue WHERE campaign_id = 'spring'"
        )

    assert "Create the first" in empty
    assert "&lt;b&gt;A &amp; B" in listed
    assert HOSTILE not in listed + fresh
    assert "Hello &lt;i&gt;spring&lt;/i&gt;" in fresh
    assert "Not sent to any recipient yet" in fresh
    assert "60 %" in fresh
    waiting = 40 - queued
    assert 0 < waiting < 40
    assert f"Of the recipients, {queued} got an email, {waiting} wait for the answer." in texts_of(
        running
    )
    assert "Not decided yet." in running
    assert f"{waiting} recipients that wait for it get B" in asked
    assert "The test is decided. Recipients that wait get the variant." in over
    assert "B was chosen by ann (console)." in over
    assert again.status_code == 422
    assert "is decided or over" in again.text
    assert [row[0] for row in actions] == ["ab_test.created", "ab_test.decided"]
    assert all("ann (console)" in row[1] for row in actions)


async def test_a_test_of_templates_is_cancelled_and_those_who_wait_get_nothing(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        for slug in ("spring", "summer", "winter"):
            await published(conn, project, slug=slug)
    path = await created(
        visitor, html="", shares="", sample_percent="1", variants="spring\nsummer@1\nwinter"
    )
    sending = f"{path}/recipients"
    await visitor.submit(sending, sending, recipients="ann@example.com")
    shown = (await visitor.get(path)).text
    asked = (await visitor.get(f"{path}/cancel")).text
    gone = await visitor.submit(f"{path}/cancel", f"{path}/cancel")
    after = (await visitor.get(str(gone.headers["location"]))).text
    await steps.worked(console.database)
    over = (await visitor.get(path)).text

    assert [f">{share} %</td>" in shown for share in (34, 33)] == [True, True]
    assert shown.count("a version of a template") == 3
    assert "1 recipient that waits for the answer get" in asked or "0 recipients that" in asked
    assert "recipients that wait get no email" in after
    assert "Cancelled before there was an answer." in over
    assert "/cancel" not in over
    assert "/choose-" not in over


@each_row(
    "fields, field, why",
    [
        ({"variants": "one"}, "variants", "Two to 4 lines are needed."),
        ({"variants": "a\nb\nc\nd\ne"}, "variants", "Two to 4 lines are needed."),
        ({"html": ""}, "variants", "Spring is here"),
        ({"shares": "50"}, "shares", "2 whole numbers are needed, one for each variant."),
        ({"shares": "50, x"}, "shares", "2 whole numbers are needed, one for each variant."),
        ({"shares": "50, 40"}, "shares", "The shares of the variants must have the sum 100."),
        ({"min_sample": "0"}, "min_sample", "greater than or equal to 1"),
        ({"metric": "money"}, "metric", "Input should be"),
        ({"category": "Marketing!"}, "category", "Input should be"),
        ({"name": ""}, "name", "Is needed."),
    ],
)
async def test_what_is_wrong_stands_at_its_field_and_nothing_is_created(
    console: Visiting, visitor: Visitor, fields: dict[str, str], field: str, why: str
) -> None:
    response = await visitor.submit(NEW, NEW, **(SPRING | fields))
    async with console.connection() as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.ab_tests")

    assert response.status_code == 422
    fault = response.text.partition(f'id="fault-{field}">')[2].partition("</span>")[0]
    assert why in fault
    assert count == 0


async def test_one_wrong_address_sends_nothing_to_anyone(
    console: Visiting, visitor: Visitor
) -> None:
    path = await created(visitor)
    sending = f"{path}/recipients"
    wrong = await visitor.submit(
        sending, sending, recipients="ann@example.com\nno address\nben@example.com"
    )
    many = await visitor.submit(sending, sending, recipients="a@example.com\n" * 1001)
    none = await visitor.submit(sending, sending, recipients=" ")
    async with console.connection() as conn:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.ab_test_recipients")

    assert [wrong.status_code, many.status_code, none.status_code] == [422, 422, 422]
    assert "No address: " in wrong.text
    assert "nothing was sent" in wrong.text
    assert "At most 1,000 at a time, got 1,001." in many.text
    assert count == 0


async def test_the_answer_and_the_comparison_are_words_with_the_p_value(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        test = await steps.created(conn)
        rows = await steps.sent_to(conn, test.id, 60)
        await steps.finished(conn, [one.id for one in rows])
        await steps.happened(conn, steps.of_variant(rows, "B"))
        running = (await visitor.get(f"{TESTS}/{test.id}")).text
        await steps.time_over(conn, test.id)
        await steps.worked(console.database)
        won = (await visitor.get(f"{TESTS}/{test.id}")).text
        listed = texts_of((await visitor.get(TESTS)).text)

    assert "not compared yet" in running
    assert "not compared yet" not in won
    assert "B has won: the difference is significant." in won
    assert "better than A (p below 0.001)" in won
    assert '<span class="pill good">winner</span>' in won
    assert "Spring B has won" in listed


async def test_no_difference_is_said_as_such(console: Visiting) -> None:
    async with console.connection() as conn:
        made: AbTest = await steps.created(conn)
    same, other = (
        replace(one, sent=100, opened=count, p_value=p)
        for one, count, p in zip(made.variants, (20, 25), (None, 0.49876), strict=True)
    )
    test = replace(made, variants=[same, other], decided_at=made.created_at)

    assert comparison_of(test, 0) == "the others are compared with it"
    assert comparison_of(test, 1) == "no difference shown (p = 0.499)"
    worse = replace(test, variants=[same, replace(other, opened=2, p_value=0.01)])
    assert comparison_of(worse, 1) == "worse than A (p = 0.010)"
    assert answer_of(replace(test, result="no_difference")).startswith("No difference shown: ")
    assert answer_of(replace(test, result="too_few")).startswith("Nothing was compared: ")
    uncompared = replace(test, variants=[same, replace(other, p_value=None)])
    assert comparison_of(uncompared, 1) == "not compared"


async def test_a_viewer_sees_tests_without_buttons_and_an_unknown_variant_is_not_found(
    console: Visiting, visitor: Visitor
) -> None:
    path = await created(visitor)
    async with console.visitor() as other:
        await console.add_user("vic", "viewer", "default")
        await other.log_in("vic")
        seen = (await other.get(TESTS)).text + (await other.get(path)).text
    unknown = await visitor.get(f"{path}/choose-Z")

    assert "&lt;b&gt;A &amp; B" in seen
    assert not re.search(r'href="[^"]*(choose-|/cancel|/recipients"|/new)', seen)
    assert unknown.status_code == 404


def test_equal_shares_have_the_sum_100_and_options_are_only_those_given() -> None:
    form = NewAbTestForm(name="x", variants="a\nb\nc", alpha="0.01")

    wanted = wanted_of(form)
    assert [one["share"] for one in wanted["variants"]] == [34, 33, 33]
    assert [one["template"] for one in wanted["variants"]] == ["a", "b", "c"]
    assert wanted["alpha"] == 0.01
    assert wanted["options"] == {}
    with pytest.raises(InvalidField):
        wanted_of(NewAbTestForm(name="x", variants="a"))

"""The A/B tests of a project, and one with its variants, figures and answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.analytics.ab_tests import requests
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.automation.ab_tests import AbTest, AbTestVariant
from mailqueue.db.fetch import Conn
from mailqueue.web.forms import uuid_of
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/ab-tests"
AB_TEST = f"{PATH}/{{ab_test_id}}"
PAGE_ROWS = 20
UNDECIDED = frozenset({"created", "running", "failed"})
"""States in which a person can decide."""
UNFINISHED = frozenset({"created", "running", "sending", "failed"})
"""States in which a test can be cancelled."""
LIVE = frozenset({"sending", "cancelling"})
"""States of a test whose page looks for changes."""
METRICS = {"open_rate": "opened by people", "click_rate": "clicked in by people"}
DONE = {
    "created": "The test was created. Send it to recipients: its time begins with the first.",
    "decided": "The test is decided. Recipients that wait get the variant.",
    "cancelled": "The test was cancelled: recipients that wait get no email.",
    "before": "This was done before, and was not done again.",
}
STATUSES = ("queued", "waiting", "duplicate", "suppressed")
"""What becomes of recipients that are added."""
SURE = 0.001
"""p-value below which no further digit is shown."""


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A variant with its figures, and how it differs from the first in words."""

    variant: AbTestVariant
    comparison: str
    is_winner: bool


async def show_tests(context: PageContext) -> Response:
    """List tests, newest first."""
    before = uuid_of(context.query("before"))
    async with context.connection() as conn:
        found = await requests.page(conn, context.seen.id, before=before, limit=PAGE_ROWS + 1)
    return context.page(
        "ab_tests/list.html",
        tests=found[:PAGE_ROWS],
        following=found[PAGE_ROWS - 1].id if len(found) > PAGE_ROWS else None,
        done=DONE.get(context.query("done"), ""),
    )


async def show_test(context: PageContext) -> Response:
    """Show one test with its variants."""
    async with context.connection() as conn:
        found = await find_test(context, conn)
    return context.page(
        "ab_tests/ab_test.html",
        test=found,
        answer=answer_of(found),
        rows=[
            VariantRow(one, comparison_of(found, place), one.name == found.winner)
            for place, one in enumerate(found.variants)
        ],
        metrics=METRICS,
        error=sentence(found.error) if found.error else "",
        is_undecided=found.state in UNDECIDED and found.decided_at is None,
        is_unfinished=found.state in UNFINISHED and found.cancelled_by is None,
        takes_more=found.state in ("created", "running"),
        is_live=found.state in LIVE,
        done=DONE.get(context.query("done"), ""),
        added=_added(context),
    )


async def find_test(context: PageContext, conn: Conn) -> AbTest:
    """Return the test in the path.

    Raises:
        NotFound: the project has no such test.
    """
    test_id = context.id_in_path("ab_test_id", "A/B test")
    return await requests.find(conn, context.seen.id, test_id)


def answer_of(test: AbTest) -> str:
    """Return the answer of a test as a sentence. Pure."""
    first = test.variants[0].name
    match test.result:
        case "winner":
            return f"{test.winner} has won: the difference is significant."
        case "no_difference":
            return f"No difference shown: no variant differs significantly from {first}."
        case "too_few":
            return (
                f"Nothing was compared: a variant has sent fewer than {test.min_sample:,} emails."
            )
        case "by_hand":
            return f"{test.winner} was chosen by {test.decided_by or 'a person'}."
    if test.state == "created":
        return "Not sent to any recipient yet. The time until the answer begins with the first."
    if test.state in ("cancelling", "cancelled"):
        return "Cancelled before there was an answer."
    return "Not decided yet. The figures are those of now, and are compared once, at the end."


def comparison_of(test: AbTest, place: int) -> str:
    """Return how a variant differs from the first, in words with the p-value. Pure."""
    first, one = test.variants[0], test.variants[place]
    if place == 0:
        return "the others are compared with it"
    if one.p_value is None:
        return "not compared" if test.decided_at else "not compared yet"
    shown = f"p below {SURE}" if one.p_value < SURE else f"p = {one.p_value:.3f}"
    if one.p_value > test.alpha:
        return f"no difference shown ({shown})"
    hits = "opened" if test.metric == "open_rate" else "clicked"
    is_better = getattr(one, hits) * first.sent > getattr(first, hits) * one.sent
    return f"{'better' if is_better else 'worse'} than {first.name} ({shown})"


def _added(context: PageContext) -> Mapping[str, int]:
    """Return what became of recipients that were just added, by status."""
    given = {name: context.query(name) for name in STATUSES}
    return {
        name: int(value)
        for name, value in given.items()
        if value.isascii() and value.isdigit() and len(value) < 5
    }


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_tests, menu=MenuEntry("A/B tests", "Mail")),
    ConsolePage("GET", AB_TEST, Right.READ, show_test),
)

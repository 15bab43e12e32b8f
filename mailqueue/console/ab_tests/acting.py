"""Pages that create an A/B test, send it to recipients, decide it by hand and cancel it."""

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.analytics.ab_tests import requests
from mailqueue.console.ab_tests.pages import AB_TEST, PATH, find_test
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.automation.ab_tests import AbTest
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.web.rendering import counted
from mailqueue.web.schemas import Choices, FormSchema, TextLines

NAMES = "ABCD"
"""Names of the variants of the form."""
MAX_ADDRESSES = 1000
"""Recipients of one form."""
_FIELDS = {"share": "shares", "subject": "variants", "template": "variants"}
"""Fields of the form by those of SQL that have another name here."""


class NewAbTestForm(FormSchema):
    """The form of a new test."""

    name: Annotated[str, Field(max_length=200)]
    """Name"""
    variants: Annotated[str, TextLines(), Field(max_length=4_000)]
    """Variants, two to four, one a line:
    subjects for the HTML below; or, without HTML, templates such as news or news@3. They are called
    A, B, C and D, and the others are compared with A"""
    html: Annotated[str | None, TextLines(), Field(max_length=50_000)] = None
    """HTML of all variants:
    empty if the variants are templates"""
    shares: Annotated[str | None, Field(max_length=40)] = None
    """Shares in percent:
    such as 50, 30, 20; equal if empty"""
    metric: Annotated[
        Literal["open_rate", "click_rate"],
        Choices({"open_rate": "emails that people open", "click_rate": "emails they click in"}),
    ] = "open_rate"
    """What decides"""
    sample_percent: Annotated[int, Field(ge=1, le=100)] = 100
    """Percent of the recipients in the test:
    the others wait for the answer, and get the winner"""
    evaluate_after_hours: Annotated[int, Field(ge=1, le=720)] = 24
    """Hours from the first recipient to the answer"""
    min_sample: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Emails that each variant must have sent:
    with fewer, nothing is compared"""
    alpha: Annotated[
        Literal["0.05", "0.01", "0.1"],
        Choices({"0.05": "5 %, as usual", "0.01": "1 %", "0.1": "10 %"}),
    ] = "0.05"
    """Chance of a winner where there is no difference"""
    if_none: Annotated[
        Literal["first", "shares"],
        Choices({"first": "get A", "shares": "get variants by their shares"}),
    ] = "first"
    """Without a winner the others"""
    category: Annotated[
        Literal["own", "transactional", "marketing"],
        Choices({"own": "that of the template, or transactional"}),
    ] = "own"
    """Category"""
    campaign_id: Annotated[str | None, Field(max_length=255)] = None
    """Campaign (optional):
    by which its emails are counted, paused and cancelled"""


class AbTestRecipientsForm(FormSchema):
    """The form of recipients that a test is sent to."""

    recipients: Annotated[str, TextLines(), Field(max_length=60_000)]
    """Addresses, one a line"""


async def create(context: PageContext, conn: Conn, form: NewAbTestForm) -> str:
    """Create a test; return the path of its page."""
    try:
        made = await requests.create(conn, context.seen.name, wanted_of(form), by=context.user.by)
    except InvalidField as exc:
        raise InvalidField(_FIELDS.get(exc.field, exc.field), exc.why) from None
    return project_path(context.seen.name, "ab-tests", made.id, done="created")


def wanted_of(form: NewAbTestForm) -> dict[str, Any]:
    """Return the test that a form asks for, as SQL takes it. Pure.

    Raises:
        InvalidField: there are not two to four variants, or a share is no number.
    """
    lines = [line.strip() for line in form.variants.splitlines() if line.strip()]
    if not 2 <= len(lines) <= len(NAMES):
        raise InvalidField("variants", f"two to {len(NAMES)} lines are needed")
    differs = "subject" if form.html else "template"
    category = None if form.category == "own" else form.category
    options = {"category": category, "campaign_id": form.campaign_id}
    wanted: dict[str, Any] = {
        "name": form.name,
        "variants": [
            {"name": name, "share": share, differs: line}
            for name, share, line in zip(NAMES, _shares_of(form, len(lines)), lines, strict=False)
        ],
        "metric": form.metric,
        "alpha": float(form.alpha),
        "evaluate_after_hours": form.evaluate_after_hours,
        "min_sample": form.min_sample,
        "sample_percent": form.sample_percent,
        "if_none": form.if_none,
        "options": {name: value for name, value in options.items() if value},
    }
    return wanted | ({"html": form.html} if form.html else {})


async def name(context: PageContext, conn: Conn) -> str:
    """Return the name of the test of the path."""
    return (await find_test(context, conn)).name


async def add_recipients(context: PageContext, conn: Conn, form: AbTestRecipientsForm) -> str:
    """Send the test to recipients, to all or to none; return the path of the test."""
    lines = [line.strip() for line in form.recipients.splitlines() if line.strip()]
    if len(lines) > MAX_ADDRESSES:
        raise InvalidField("recipients", f"at most {MAX_ADDRESSES:,} at a time, got {len(lines):,}")
    found = await find_test(context, conn)
    people = [{"recipient": line} for line in lines]
    results = await requests.add(conn, context.seen.name, found.id, people)
    for one in results:
        if one.status == "rejected":
            raise InvalidField(
                "recipients", f"{lines[one.index][:100]}: {one.reason}; nothing was sent"
            )
    counts = Counter(one.status for one in results)
    return project_path(context.seen.name, "ab-tests", found.id, **counts)


async def preview_choice(context: PageContext, conn: Conn) -> ActPreview:
    """Return who gets a variant once it is chosen."""
    found = await find_test(context, conn)
    name = _variant_of(context, found)
    waiting = counted(found.waiting, "recipient")
    return ActPreview(
        f"{name} of {found.name}",
        f"The test is decided now, by you and not by a comparison: {waiting} that "
        f"{'waits' if found.waiting == 1 else 'wait'} for it get {name}. There is no way to undo "
        "it.",
    )


async def choose(context: PageContext, conn: Conn) -> str:
    """Make a variant the winner."""
    found = await find_test(context, conn)
    name = _variant_of(context, found)
    await requests.decide(conn, context.seen.id, found.id, variant=name, by=context.user.by)
    return project_path(context.seen.name, "ab-tests", found.id, done="decided")


async def preview_cancellation(context: PageContext, conn: Conn) -> ActPreview:
    """Return who gets no email once a test is cancelled."""
    found = await find_test(context, conn)
    accepted = counted(sum(one.accepted for one in found.variants), "email")
    return ActPreview(
        found.name,
        f"{counted(found.waiting, 'recipient')} that {'waits' if found.waiting == 1 else 'wait'} "
        f"for the answer get no email. Of the sample, {accepted} "
        f"{'was' if accepted.startswith('1 ') else 'were'} accepted, and what is not sent yet is "
        "sent. There is no way to undo it.",
    )


async def cancel(context: PageContext, conn: Conn) -> str:
    """Cancel the test."""
    found = await find_test(context, conn)
    await requests.cancel(conn, context.seen.id, found.id, by=context.user.by)
    return project_path(context.seen.name, "ab-tests", found.id, done="cancelled")


def _shares_of(form: NewAbTestForm, count: int) -> list[int]:
    """Return the shares of a form in percent: equal ones where none are given."""
    if not form.shares:
        least, more = divmod(100, count)
        return [least + (place < more) for place in range(count)]
    given = [part.strip().removesuffix("%").strip() for part in form.shares.split(",")]
    if len(given) != count or not all(part.isascii() and part.isdigit() for part in given):
        raise InvalidField("shares", f"{count} whole numbers are needed, one for each variant")
    return [int(part[:9]) for part in given]


def _variant_of(context: PageContext, test: AbTest) -> str:
    """Return the variant in the path.

    Raises:
        NotFound: the test has no such variant.
    """
    name: str = context.request.path_params["variant"]
    if name not in [one.name for one in test.variants]:
        raise NotFound("variant", name.replace("\0", "?")[:100])
    return name


PAGES = (
    *form_pages(
        f"{PATH}/new",
        Right.CONTROL,
        FormPage(
            "New A/B test",
            "Create the test",
            NewAbTestForm,
            create,
            lead="Variants of one email, compared by how many people open it or click in it.",
            consequence="Nothing is sent yet: add recipients on the next page. What is here cannot "
            "be changed later, so that nobody chooses the answer.",
        ),
    ),
    *form_pages(
        f"{AB_TEST}/recipients",
        Right.CONTROL,
        FormPage(
            "Send to recipients the test",
            "Send the test",
            AbTestRecipientsForm,
            add_recipients,
            consequence="Those in the sample get a variant now, the others wait for the answer. A "
            "recipient gets one email of a test, however often it is added.",
            named=name,
        ),
    ),
    *button_pages(
        f"{AB_TEST}/choose-{{variant}}",
        Right.CONTROL,
        ActPage(
            "Choose variant", "Choose this variant", preview_choice, choose, is_destructive=True
        ),
    ),
    *button_pages(
        f"{AB_TEST}/cancel",
        Right.CONTROL,
        ActPage(
            "Cancel the test", "Cancel the test", preview_cancellation, cancel, is_destructive=True
        ),
        step_up=True,
    ),
)

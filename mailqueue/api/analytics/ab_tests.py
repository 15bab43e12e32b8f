"""Endpoints of A/B tests."""

from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AliasChoices, Field

from mailqueue.analytics.ab_tests import requests
from mailqueue.api.emails.schema import StorableObject, StorableText, Whole
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.option_fields import options_by_field, with_option_fields
from mailqueue.api.sending.schema import SenderId
from mailqueue.contract.automation.ab_tests import AbTest, AbTestResults, AbTestSummary
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope

_TAG = "Analytics"
PATH = "/v1/analytics/ab-tests"
_CONTENT = {"html_body": "html", "text_body": "text"}
"""Names in SQL of fields that have another one there."""


class NewAbTestVariant(StrictRequestModel):
    """A variant; what it does not say is that of the test."""

    name: StorableText
    """Name, such as `A`: 1 to 40 letters, digits, `-` and `_`."""
    share: Whole
    """Percent of the sample that gets it; the shares of all variants have the sum 100."""
    subject: StorableText | None = None
    """Subject."""
    html_body: StorableText | None = None
    """HTML body."""
    text_body: StorableText | None = None
    """Text body."""
    template: StorableText | None = None
    """Template by its slug, or `slug@3` for a version."""


@with_option_fields(of_one=False)
class NewAbTest(StrictRequestModel):
    """A test of two to four variants of one email. Nothing of it can be changed later."""

    name: StorableText
    """Name for people."""
    variants: Annotated[list[NewAbTestVariant], Field(min_length=2, max_length=4)]
    """Variants; the first is the one that the others are compared with."""
    subject: StorableText | None = None
    """Subject of variants without one."""
    html_body: StorableText | None = None
    """HTML body of variants without one."""
    text_body: StorableText | None = None
    """Text body of variants without one."""
    template: StorableText | None = None
    """Template of variants without one, by its slug, or `slug@3` for a version."""
    language: StorableText | None = None
    """Language of the template for recipients without one."""
    metric: Literal["open_rate", "click_rate"] = "open_rate"
    """What decides: emails that people opened, or clicked in, as a share of those sent."""
    alpha: Annotated[float, Field(ge=0.0001, le=0.5)] = 0.05
    """Highest p-value at which a difference is significant."""
    evaluate_after_hours: Annotated[float, Field(ge=0.02, le=720)] = 24
    """Hours from the first recipient to the evaluation."""
    min_sample: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Emails that each variant must have sent; with fewer nothing is compared."""
    sample_percent: Annotated[int, Field(ge=1, le=100)] = 100
    """Percent of the recipients that are in the sample; the others wait for the decision."""
    if_none: Literal["first", "shares"] = "first"
    """What the others get without a winner: `first`, the first variant, or `shares`, variants by
    their shares.
    """
    category: StorableText | None = None
    """`transactional`, `marketing` or a lower-case word of your own; that of the template, or
    `transactional`, if omitted.
    """
    smtp_config_id: SenderId | None = Field(
        default=None, validation_alias=AliasChoices("smtp_config_id", "sender")
    )
    """Id or name of the sender account; if omitted, the project's accounts by routing."""

    def options(self) -> dict[str, Any]:
        """Return the options of `mailqueue.enqueue`."""
        return {
            option: value
            for name, option in options_by_field(type(self)).items()
            if (value := getattr(self, name)) not in (None, [], {})
        }


class AbTestPerson(StrictRequestModel):
    """A recipient of a test."""

    email: StorableText
    """Address."""
    name: StorableText | None = None
    """Name."""
    variables: StorableObject | None = None
    """Variables of the template; they must suit each variant."""
    language: StorableText | None = None
    """Language of the template."""
    custom_data: StorableObject | None = None
    """JSON object stored with the email."""


class NewAbTestRecipients(StrictRequestModel):
    """Recipients that a test is sent to."""

    recipients: Annotated[list[AbTestPerson], Field(min_length=1, max_length=1000)]
    """Recipients, up to 1,000 in a request; further requests add others."""


class AbTestDecision(StrictRequestModel):
    """A decision by hand."""

    variant: StorableText
    """Name of the variant that the others get."""


async def create(call: RequestContext) -> AbTest:
    """Create a test."""
    asked: NewAbTest = call.body
    fields = (
        *("name", "subject", "html_body", "text_body", "template", "language", "metric", "alpha"),
        *("evaluate_after_hours", "min_sample", "sample_percent", "if_none"),
    )
    wanted = _named({name: getattr(asked, name) for name in fields})
    wanted["variants"] = [_named(one.model_dump(exclude_none=True)) for one in asked.variants]
    wanted["options"] = sending_service.options_for(call.caller, asked.options())
    try:
        async with call.connection() as conn:
            return await requests.create(conn, call.caller.project, wanted, by=call.by)
    except InvalidField as exc:
        raise sending_service.renamed(exc) from None


async def index(call: RequestContext) -> Page[AbTestSummary]:
    """List tests, newest first."""
    query: PageQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await requests.page(
            conn, call.caller.project_id, before=before, limit=query.limit + 1
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def show(call: RequestContext) -> AbTest:
    """Return one test with the counts of its variants."""
    async with call.connection() as conn:
        return await requests.find(conn, call.caller.project_id, call.id("ab_test_id"))


async def add(call: RequestContext) -> AbTestResults:
    """Send a test to recipients."""
    asked: NewAbTestRecipients = call.body
    people = [
        {"recipient": one.email, **one.model_dump(exclude={"email"}, exclude_none=True)}
        for one in asked.recipients
    ]
    async with call.connection() as conn:
        test = await requests.find(conn, call.caller.project_id, call.id("ab_test_id"))
        rows = await requests.add(conn, call.caller.project, test.id, people)
    return AbTestResults(rows)


async def decide(call: RequestContext) -> AbTest:
    """Make a variant the winner before the evaluation."""
    asked: AbTestDecision = call.body
    async with call.connection() as conn:
        return await requests.decide(
            conn,
            call.caller.project_id,
            call.id("ab_test_id"),
            variant=asked.variant,
            by=call.by,
        )


async def cancel(call: RequestContext) -> AbTest:
    """Cancel a test."""
    async with call.connection() as conn:
        return await requests.cancel(
            conn, call.caller.project_id, call.id("ab_test_id"), by=call.by
        )


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are given, with their names in SQL. Pure."""
    return {_CONTENT.get(name, name): value for name, value in fields.items() if value is not None}


AB_TEST_ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.EMAIL_SEND,
        "Create an A/B test of two to four variants of an email.",
        create,
        request=NewAbTest,
        response=AbTest,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        description="Metric, alpha, time and least sample are fixed before the first email. 409 "
        "if 100 tests of the project are not finished.",
        example={
            "name": "Spring subjects",
            "html_body": "<p>Hello</p>",
            "variants": [
                {"name": "A", "share": 50, "subject": "Spring is here"},
                {"name": "B", "share": 50, "subject": "Hello spring"},
            ],
            "sample_percent": 20,
        },
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.ANALYTICS_READ,
        "List A/B tests, newest first.",
        index,
        query=PageQuery,
        response=Page[AbTestSummary],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{ab_test_id}}",
        Scope.ANALYTICS_READ,
        "Show an A/B test with the counts of its variants.",
        show,
        response=AbTest,
        tag=_TAG,
        description="Counts are those that decided; before the decision, those of now.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{PATH}/{{ab_test_id}}/recipients",
        Scope.EMAIL_SEND,
        "Send an A/B test to recipients.",
        add,
        request=NewAbTestRecipients,
        response=AbTestResults,
        status=HTTPStatus.ACCEPTED,
        tag=_TAG,
        description="A recipient gets one email of a test, however often it is added. 409 once "
        "the test is decided, cancelled or its time is over.",
        example={"recipients": [{"email": "ann@example.com"}, {"email": "bob@example.com"}]},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{PATH}/{{ab_test_id}}/decide",
        Scope.EMAIL_SEND,
        "Decide an A/B test by hand before its evaluation.",
        decide,
        request=AbTestDecision,
        response=AbTest,
        tag=_TAG,
        description="Recipients that wait get the variant. 409 if the test is decided or over.",
        example={"variant": "A"},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{PATH}/{{ab_test_id}}/cancel",
        Scope.EMAIL_SEND,
        "Cancel an A/B test.",
        cancel,
        response=AbTest,
        tag=_TAG,
        description="Recipients that wait get no email; emails that were accepted are sent. 409 if "
        "the test is over.",
        test_keys=ForTestKeys.OWN,
    ),
)

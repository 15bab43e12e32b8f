"""A person's filter rules: the list, and a form that tries a rule before it is saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import Response

from mailqueue.contract.watch import FilterRule, Notification, NotificationKind, RuleType
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.portal.frame.context import PortalContext, SentBefore
from mailqueue.portal.frame.forms import PortalAct, Question, fault_of, form_pages
from mailqueue.portal.frame.page import PortalPage
from mailqueue.watch import notifications, owned, rules
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence
from mailqueue.web.schemas import Choices, FormSchema, fields_of, read_as, typed_of

ABOVE = "/rules"
ONE = f"{ABOVE}/{{rule_id}}"
MAX_RULES = 100
"""Rules that a person may have, as SQL bounds them."""
RECENT = 50
"""Notifications that a rule is tried on beside the sample."""
SAMPLE = ("sender_address", "subject")
_MAX_SAMPLE_CHARACTERS = 998


class RuleForm(FormSchema):
    """A filter rule."""

    rule_type: Annotated[
        Literal["sender", "subject"],
        Choices({"sender": "the sender", "subject": "the subject"}),
    ] = "sender"
    """What is compared"""
    pattern: Annotated[str, Field(min_length=1, max_length=512)]
    """Pattern
    An address or a domain of senders; or a word or phrase of the subject."""
    priority: Annotated[int, Field(ge=-32768, le=32767)] = 0
    """Order
    The lowest number comes first."""
    is_active: bool = False
    """Apply this rule"""


@dataclass(frozen=True, slots=True)
class PatternTrial:
    """What a rule matched: the sample, if one was given, and recent notifications."""

    is_match: bool | None
    recent: int
    matched: list[Notification]


async def show(context: PortalContext) -> Response:
    """List the person's rules."""
    async with context.connection() as conn:
        found = await rules.list_page(
            conn, context.project.id, user_id=context.person.user_id, limit=MAX_RULES
        )
    found.sort(key=lambda one: (one.priority, one.id))
    return context.page("rules/list.html", rules=found, done=context.query("done"))


async def ask_new(context: PortalContext) -> Response:
    """Show the form of a new rule."""
    return _shown(context, {**typed_of(RuleForm, {}), "is_active": "on"})


async def ask_changed(context: PortalContext) -> Response:
    """Show the form of a rule, with its values."""
    async with context.connection() as conn:
        one = await _own(context, conn)
    return _shown(
        context,
        {
            "rule_type": one.rule_type,
            "pattern": one.pattern,
            "priority": str(one.priority),
            "is_active": "on" if one.is_active else "",
        },
    )


async def act(context: PortalContext) -> Response:
    """Try the rule on the sample, or save it, as the button says."""
    form = context.form
    sample = {name: text_of(form, name)[:_MAX_SAMPLE_CHARACTERS] for name in SAMPLE}
    typed = typed_of(RuleForm, form) | {"is_active": form.get("is_active", "")} | sample
    values, faults = read_as(RuleForm, form)
    if values is None:
        return _shown(context, typed, {name: sentence(why) for name, why in faults.items()})
    is_new = "rule_id" not in context.request.path_params
    if form.get("button") != "save":
        async with context.connection() as conn:
            if not is_new:
                await _own(context, conn)
            recent = await notifications.list_page(
                conn, context.project.id, user_id=context.person.user_id, limit=RECENT
            )
        return _shown(context, typed, trial=_tried(values, sample, recent))
    try:
        async with context.acting_once() as conn:
            await _saved(context, conn, values, is_new=is_new)
    except SentBefore:
        return context.redirect(context.path("rules", done="before"))
    except InvalidField as exc:
        return _shown(context, typed, fault_of(exc, typed))
    return context.redirect(context.path("rules", done="added" if is_new else "changed"))


async def _saved(context: PortalContext, conn: Conn, values: RuleForm, *, is_new: bool) -> None:
    project_id, person = context.project.id, context.person
    if is_new:
        await rules.add(
            conn,
            project_id,
            person.user_id,
            rule_type=values.rule_type,
            pattern=values.pattern,
            is_active=values.is_active,
            priority=values.priority,
            by=person.by,
        )
        return
    one = await _own(context, conn)
    await rules.change(
        conn,
        project_id,
        one.id,
        rule_type=values.rule_type,
        pattern=values.pattern,
        is_active=values.is_active,
        priority=values.priority,
        by=person.by,
    )


def _tried(values: RuleForm, sample: Mapping[str, str], recent: list[Notification]) -> PatternTrial:
    """Return what a rule matches, of a sample and of recent notifications. Pure."""
    kind = RuleType(values.rule_type)

    def is_match(sender: str, subject: str) -> bool:
        return rules.try_out(kind, values.pattern, sender=sender, subject=subject).is_match

    mails = [one for one in recent if one.kind == NotificationKind.MAIL]
    return PatternTrial(
        is_match(sample["sender_address"], sample["subject"]) if any(sample.values()) else None,
        len(mails),
        [one for one in mails if is_match(one.sender_address, one.subject)],
    )


async def _what_is_removed(context: PortalContext, conn: Conn) -> Question:
    one = await _own(context, conn)
    return Question(
        one.pattern,
        "Mail that only this rule matches is not reported any more. Without an active rule, all "
        "mail is reported.",
    )


async def _remove(context: PortalContext, conn: Conn) -> str:
    one = await _own(context, conn)
    await rules.remove(conn, context.project.id, one.id, by=context.person.by)
    return context.path("rules", done="removed")


async def _own(context: PortalContext, conn: Conn) -> FilterRule:
    return await owned.rule(
        conn,
        context.project.id,
        context.person.user_id,
        context.id_in_path("rule_id", "filter rule"),
    )


def _shown(
    context: PortalContext,
    typed: Mapping[str, str],
    faults: Mapping[str, str] | None = None,
    trial: PatternTrial | None = None,
) -> Response:
    return context.form_page(
        "rules/rule.html",
        typed,
        faults,
        fields=fields_of(RuleForm),
        trial=trial,
        is_new="rule_id" not in context.request.path_params,
        path=context.request.url.path,
    )


PAGES = (
    PortalPage("GET", ABOVE, show, menu="Rules"),
    PortalPage("GET", f"{ABOVE}/new", ask_new),
    PortalPage("POST", f"{ABOVE}/new", act),
    PortalPage("GET", ONE, ask_changed),
    PortalPage("POST", ONE, act),
    *form_pages(
        f"{ONE}/remove",
        PortalAct("Remove the rule", "Remove the rule", _what_is_removed, _remove, ABOVE),
    ),
)

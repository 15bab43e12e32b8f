"""A page that shows what a rule would do with a sample; nothing is kept."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.event_rules.pages import ACTIONS, RULE, find_rule
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.named_lines import lines_of
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.automation.inbox import RuleResult, RuleTrial
from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable
from mailqueue.inbox import rules
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

MAX_CHARACTERS = 20_000
"""Maximum length in characters of a sample."""
SAMPLE = '{"customer": {"email": "ann@example.com"}}'
DID = {
    RuleResult.MAIL: "It would queue this email.",
    RuleResult.CANCELLED: "It would cancel emails under the key.",
    RuleResult.ENROLLED: "It would enroll the recipient in the sequence.",
    RuleResult.LEFT: "It would end what the recipient has in sequences.",
    RuleResult.RECORDED: "It would record the event.",
    RuleResult.FAILED: "It would fail.",
}
"""The result of a trial, in words."""


async def ask(context: PageContext) -> Response:
    """Show the form of a sample."""
    return await _shown(context, SAMPLE)


async def try_rule(context: PageContext) -> Response:
    """Show what the rule would do with the sample of the form."""
    typed = text_of(context.form, "payload")
    try:
        payload = sample_of(typed)
        async with context.connection() as conn:
            rule = await find_rule(context, conn)
            trial = await rules.try_out(
                conn, context.seen.id, rule.name, payload=payload, headers={}
            )
    except InvalidField as exc:
        return await _shown(context, typed, fault=sentence(exc.why))
    return await _shown(context, typed, trial=trial)


def sample_of(text: str) -> dict[str, Any]:
    """Return the payload of a sample. Pure.

    Raises:
        InvalidField: it is not a JSON object that can be stored, or too long.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidField("payload", f"must have at most {MAX_CHARACTERS:,} characters")
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidField("payload", f"must be a JSON object such as {SAMPLE}")
    if (fault := unstorable("payload", found)) is not None:
        raise fault
    return found


def _refuse(name: str) -> object:
    raise ValueError(name)


async def _shown(
    context: PageContext, typed: str, *, trial: RuleTrial | None = None, fault: str = ""
) -> Response:
    async with context.connection() as conn:
        rule = await find_rule(context, conn)
    faults: Mapping[str, str] = {"payload": fault} if fault else {}
    email = None if trial is None else trial.email
    return context.form_page(
        "event_rules/try.html",
        {"payload": typed},
        faults,
        rule=rule,
        actions=ACTIONS,
        longest=MAX_CHARACTERS,
        trial=trial,
        did=DID,
        variables="" if email is None else lines_of(email.variables or {}),
    )


PAGES = (
    ConsolePage("GET", f"{RULE}/try", Right.CONFIGURE, ask),
    ConsolePage("POST", f"{RULE}/try", Right.CONFIGURE, try_rule),
)

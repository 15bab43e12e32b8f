"""Postmark's API: triggers. A tag decides whether opens are tracked; a sender's mail is ignored.

Follows postmarkapp.com/developer/api/tag-triggers-api and /inbound-rules-triggers-api. Tags decide
for mail of this API that does not. What comes in here is bounce mail: that of a sender whom a rule
names is stored, and changes nothing.
"""

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_pascal
from starlette.responses import Response

from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, PostmarkRefusal, error_of
from mailqueue.api.compat.postmark.model import MAX_TAG_CHARACTERS
from mailqueue.api.compat.postmark.reading import body_of
from mailqueue.api.compat.postmark.ruled.store import (
    ProjectRule,
    RuleKind,
    list_rules,
    put_rule,
    remove_rule,
    rule_of_number,
)
from mailqueue.api.compat.postmark.search import PostmarkPage
from mailqueue.api.compat.reading import query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.domains.keys import domain_of

_TRIGGER_EXISTS = "A tag with this name already has a trigger associated with it."


class TagTrigger(StrictRequestModel):
    """The body of POST /triggers/tags and PUT /triggers/tags/{trigger_number}."""

    model_config = ConfigDict(alias_generator=to_pascal)

    match_name: StorableText = Field(max_length=MAX_TAG_CHARACTERS)
    track_opens: bool | None = None

    def subject(self) -> str:
        """Return the tag.

        Raises:
            PostmarkRefusal: there is none.
        """
        if not self.match_name.strip():
            raise PostmarkRefusal(ErrorCode.TRIGGER_NAME, "The name to match is missing.")
        return self.match_name


class TriggerQuery(PostmarkPage):
    """The query of GET /triggers/tags."""

    match_name: StorableText | None = None


class InboundRule(StrictRequestModel):
    """The body of POST /triggers/inboundrules."""

    model_config = ConfigDict(alias_generator=to_pascal)

    rule: StorableText


async def tags(call: RequestContext) -> Response:
    """List the triggers of tags by name, or those whose name has a text."""
    query = query_of(call, TriggerQuery)
    wanted = (query.match_name or "").lower()
    found = [one for one in await _rules(call, RuleKind.TAG) if wanted in one.subject.lower()]
    page = found[query.offset : query.offset + query.count]
    return json_answer({"TotalCount": len(found), "Tags": [_shown(one) for one in page]})


async def tag(call: RequestContext) -> Response:
    """Show the trigger of a tag."""
    return json_answer(_shown(await _tag(call)))


async def add_tag(call: RequestContext) -> Response:
    """Add the trigger of a tag; without `TrackOpens` opens of its mail are tracked."""
    body = await body_of(call, TagTrigger)
    settings = {"track_opens": body.track_opens is not False}
    made = await put_rule(call, RuleKind.TAG, body.subject(), settings)
    if made is None:
        raise PostmarkRefusal(ErrorCode.TRIGGER_EXISTS, _TRIGGER_EXISTS)
    return json_answer(_shown(made))


async def change_tag(call: RequestContext) -> Response:
    """Change the trigger of a tag; `TrackOpens` stays where it is left out."""
    body = await body_of(call, TagTrigger)
    one = await _tag(call)
    tracks = one.settings["track_opens"] if body.track_opens is None else body.track_opens
    made = await put_rule(
        call, RuleKind.TAG, body.subject(), {"track_opens": tracks}, rule_id=one.id
    )
    if made is None:
        raise PostmarkRefusal(ErrorCode.TRIGGER_EXISTS, _TRIGGER_EXISTS)
    return json_answer(_shown(made))


async def remove_tag(call: RequestContext) -> Response:
    """Remove the trigger of a tag."""
    one = await _tag(call)
    await remove_rule(call, RuleKind.TAG, one)
    return json_answer(error_of(ErrorCode.OK, f"Tag {one.subject} removed."))


async def inbound_rules(call: RequestContext) -> Response:
    """List the senders whose bounce mail is ignored."""
    query = query_of(call, PostmarkPage)
    found = await _rules(call, RuleKind.INBOUND)
    page = found[query.offset : query.offset + query.count]
    shown = [{"ID": one.number, "Rule": one.subject} for one in page]
    return json_answer({"TotalCount": len(found), "InboundRules": shown})


async def add_inbound_rule(call: RequestContext) -> Response:
    """Have bounce mail of an address, or of a domain, ignored."""
    body = await body_of(call, InboundRule)
    made = await put_rule(call, RuleKind.INBOUND, _sender(body.rule), {})
    if made is None:
        raise PostmarkRefusal(ErrorCode.RULE_EXISTS, "This inbound rule already exists.")
    return json_answer({"ID": made.number, "Rule": made.subject})


async def remove_inbound_rule(call: RequestContext) -> Response:
    """Have bounce mail of a sender count again."""
    one = await rule_of_number(call, RuleKind.INBOUND, call.path["rule_number"])
    if one is None:
        raise PostmarkRefusal(ErrorCode.NO_RULE, "This inbound rule was not found.")
    await remove_rule(call, RuleKind.INBOUND, one)
    return json_answer(error_of(ErrorCode.OK, f"Rule {one.subject} removed."))


async def _rules(call: RequestContext, kind: RuleKind) -> list[ProjectRule]:
    async with call.connection() as conn:
        return await list_rules(conn, call.caller.project_id, kind)


async def _tag(call: RequestContext) -> ProjectRule:
    """Return the trigger whose number is in the path.

    Raises:
        PostmarkRefusal: the project has none of that number.
    """
    found = await rule_of_number(call, RuleKind.TAG, call.path["trigger_number"])
    if found is None:
        raise PostmarkRefusal(ErrorCode.NO_TRIGGER, "A trigger for this tag doesn't exist.")
    return found


def _sender(text: str) -> str:
    """Return an address or a domain in the form in which senders are compared.

    Raises:
        PostmarkRefusal: it is neither.
    """
    try:
        return parse_address(text).key if "@" in text else domain_of(text)
    except (InvalidAddress, InvalidField):
        why = "Not a valid email address or domain."
        raise PostmarkRefusal(ErrorCode.BAD_RULE, why) from None


def _shown(one: ProjectRule) -> dict[str, Any]:
    return {
        "ID": one.number,
        "MatchName": one.subject,
        "TrackOpens": one.settings["track_opens"],
    }


_TAGS = "/triggers/tags"
_ONE_TAG = f"{_TAGS}/{{trigger_number}}"
_RULES = "/triggers/inboundrules"
TRIGGER_ENDPOINTS = (
    domain_endpoint("GET", _TAGS, "List the triggers of tags.", tags),
    domain_endpoint("POST", _TAGS, "Add the trigger of a tag.", add_tag),
    domain_endpoint("GET", _ONE_TAG, "Show the trigger of a tag.", tag),
    domain_endpoint("PUT", _ONE_TAG, "Change the trigger of a tag.", change_tag),
    domain_endpoint("DELETE", _ONE_TAG, "Remove the trigger of a tag.", remove_tag),
    domain_endpoint("GET", _RULES, "List senders of ignored bounce mail.", inbound_rules),
    domain_endpoint("POST", _RULES, "Ignore the bounce mail of a sender.", add_inbound_rule),
    domain_endpoint(
        "DELETE",
        f"{_RULES}/{{rule_number}}",
        "End a rule on bounce mail.",
        remove_inbound_rule,
    ),
)

"""Mailgun's API: the descriptions of tags, which are rules of the project here."""

from starlette.responses import Response

from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter, TagNotFound
from mailqueue.api.compat.mailgun.form import form_of
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.postmark.ruled.store import (
    RuleKind,
    list_rules,
    put_rule,
    remove_rule,
)
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.seen_tags import seen_tags
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField

MAX_DESCRIPTION = 1_000
_TRIES = 3
"""Attempts where another request describes the tag at the same time."""


class MailgunTagQuery(RequestModel):
    """The query that names a tag."""

    tag: StorableText | None = None


async def descriptions(call: RequestContext) -> dict[str, str]:
    """Return the descriptions of tags, by tag."""
    async with call.connection() as conn:
        found = await list_rules(conn, call.caller.project_id, RuleKind.DESCRIPTION)
    return {one.subject: one.settings["description"] for one in found}


async def describe(call: RequestContext, tag: str, description: str) -> None:
    """Describe a tag of mail of the last days; an empty text removes its description.

    Raises:
        NamedParameter: the description is too long, or the project has too many.
        TagNotFound: no mail with the tag was counted.
    """
    if len(description) > MAX_DESCRIPTION:
        raise NamedParameter("description", f"at most {MAX_DESCRIPTION:,} characters")
    if all(one.tag != tag for one in await seen_tags(call)):
        raise TagNotFound("tag not found")
    for _ in range(_TRIES):
        async with call.connection() as conn:
            found = await list_rules(conn, call.caller.project_id, RuleKind.DESCRIPTION, [tag])
        known = found[0] if found else None
        if not description:
            if known is not None:
                await remove_rule(call, RuleKind.DESCRIPTION, known)
            return
        settings = {"description": description}
        rule_id = None if known is None else known.id
        try:
            made = await put_rule(call, RuleKind.DESCRIPTION, tag, settings, rule_id=rule_id)
        except InvalidField as exc:
            why = exc.why if exc.field != "rules" else "a project may have 500 of them"
            raise NamedParameter("description", why) from exc
        if made is not None:
            return
    raise NamedParameter("tag", "is being described by other requests: try again")


async def change(call: RequestContext) -> Response:
    """Describe the tag of the path."""
    await check_domain(call)
    return await _changed(call, call.path["tag"])


async def change_named(call: RequestContext) -> Response:
    """Describe the tag of the query."""
    await check_domain(call)
    query = query_of(call, MailgunTagQuery)
    if not query.tag:
        raise MissingParameter("tag")
    return await _changed(call, query.tag)


async def _changed(call: RequestContext, tag: str) -> Response:
    form = await form_of(call)
    form.check_names(("description",))
    await describe(call, tag, form.one("description") or "")
    return json_answer({"message": "Tag updated"})


DESCRIPTION_ENDPOINTS = (
    domain_endpoint("PUT", "/v3/{domain}/tags/{tag}", "Describe a tag.", change),
    domain_endpoint("PUT", "/v3/{domain}/tag", "Describe a tag.", change_named),
)

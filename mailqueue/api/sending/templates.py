"""Endpoints that send mail from templates: to one recipient, or to many with their own
variables.
"""

from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.responses import json_answer
from mailqueue.api.sending.batches import LIST, LISTS, own_of, sent_to_many
from mailqueue.api.sending.dry_run import run_dry
from mailqueue.api.sending.keys import with_key
from mailqueue.api.sending.override import sent_by_override
from mailqueue.api.sending.prepare import routed, store_files
from mailqueue.api.sending.schema import TemplateBatchRequest, TemplateRecipient, TemplateRequest
from mailqueue.api.sending.service import accepted_or_expanding, renamed
from mailqueue.contacts.model import is_list_name
from mailqueue.contract.sending import Batch, Sent
from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import Scope
from mailqueue.templates.accepting import ChosenVersion, choose

MAX_LANGUAGES = 50


async def send_template(call: RequestContext) -> Sent | Response:
    """Accept one email from a template, send it at once, or report its result without sending."""
    wanted = await routed(call, with_key(call.body, call.idempotency_key))
    chosen = await chosen_for(call, wanted.template, wanted.language)
    chosen.check(wanted.variables | of_contact(wanted.to[0]))
    if wanted.dry_run:
        return json_answer(await run_dry(call, wanted, category=chosen.template.category))
    wanted = await store_files(call, wanted)
    if wanted.smtp_override is not None:
        return await sent_by_override(call, wanted, wanted.smtp_override, chosen)
    return await accepted_or_expanding(call, wanted)


async def send_template_batch(call: RequestContext) -> Batch:
    """Accept a template for many recipients, each with variables of its own."""
    wanted: TemplateBatchRequest = await routed(call, call.body)
    choice = [await chosen_for(call, wanted.template, wanted.language)]
    place_by_language: dict[str | None, int] = {None: 0, wanted.language: 0}
    recipients = []
    for one in wanted.recipients:
        if one.language not in place_by_language:
            found = await chosen_for(call, wanted.template, one.language)
            place_by_language[one.language] = _place(choice, found)
        place = place_by_language[one.language]
        await call.services.turns.share()
        recipients.append(_own(one, wanted, choice[place], place))
    contents = [_content(chosen) for chosen in choice]
    category = choice[0].template.category
    return await sent_to_many(call, wanted, contents, recipients, category=category)


async def chosen_for(call: RequestContext, template: str, language: str | None) -> ChosenVersion:
    """Return the template version and language of an email.

    Raises:
        InvalidField: there is no such template or version, or it is a draft.
    """
    project_id = call.caller.project_id
    try:
        async with call.connection() as conn:
            return await choose(
                conn, call.services.template_cache, project_id, template=template, language=language
            )
    except InvalidField as exc:
        raise renamed(exc) from None


def of_contact(recipient: str) -> dict[str, Any]:
    """Return the variables that each email has of its contact where the recipient is a list.

    Pure. Their values are added when the email is made.
    """
    return {"contact": {}} if is_list_name(recipient) else {}


def _place(choice: list[ChosenVersion], version: ChosenVersion) -> int:
    """Return the index of a language among those that are sent; it may be another's fallback."""
    for place, known in enumerate(choice):
        if known.language == version.language:
            return place
    if len(choice) == MAX_LANGUAGES:
        raise InvalidField("recipients", f"at most {MAX_LANGUAGES} languages in one call")
    choice.append(version)
    return len(choice) - 1


def _own(
    one: TemplateRecipient, request: TemplateBatchRequest, chosen: ChosenVersion, place: int
) -> dict[str, Any]:
    variables = request.variables | one.variables
    own = own_of(one)
    try:
        chosen.check(variables | of_contact(one.email))
        if "variables" in own.setdefault("custom_data", {}):
            raise InvalidField(
                "custom_data", "is taken by the template's variables: use another name"
            )
    except InvalidField as exc:
        return {"refused": str(exc)}
    own["custom_data"] = own["custom_data"] | {"variables": variables}
    return own if place == 0 else own | {"content": place}


def _content(chosen: ChosenVersion) -> dict[str, Any]:
    return {
        "template_version_id": str(chosen.version.id),
        "template_language": chosen.language,
    }


_WELCOME = {"template_slug": "welcome-email", "template_version": "published"}

TEMPLATE_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/send/template",
        Scope.EMAIL_SEND,
        "Send an email from a template.",
        send_template,
        request=TemplateRequest,
        response=Sent,
        status=HTTPStatus.ACCEPTED,
        tag="Sending",
        once=Once.ITSELF,
        description="The template is rendered when it is sent; its variables are checked now. "
        f"{LIST} `category` may be that of the template.",
        example=_WELCOME | {"to": ["ann@example.com"], "variables": {"FirstName": "Ann"}},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        "/v1/send/template/batch",
        Scope.EMAIL_SEND,
        "Send a template to up to 10,000 recipients, each with variables of its own.",
        send_template_batch,
        request=TemplateBatchRequest,
        response=Batch,
        status=HTTPStatus.ACCEPTED,
        tag="Sending",
        description=f"{LISTS} Its fields are variables: `contact.first_name`, "
        "`contact.attributes.plan` and so on, and its language chooses that of the text.",
        example=_WELCOME
        | {"recipients": [{"email": "ann@example.com", "variables": {"FirstName": "Ann"}}]},
        test_keys=ForTestKeys.OWN,
    ),
)

"""Resend's API: automations, each of which is a sequence here, and the event rule that enrolls.

Follows resend.com/docs/api-reference/automations. Contacts that are on their way keep the steps
with which they began. While a contact is on its way, another event about it begins nothing.
"""

import secrets
from datetime import UTC, datetime
from typing import Any, Literal

from starlette.responses import Response

from mailqueue.api.compat.handlebars.kept import own_template
from mailqueue.api.compat.model import managing_endpoint
from mailqueue.api.compat.postmark.ruled.store import (
    ProjectRule,
    RuleKind,
    list_rules,
    put_rule,
    remove_rule,
)
from mailqueue.api.compat.resend.automated.model import (
    AutomationConnectionBody,
    AutomationPlan,
    AutomationStepBody,
    ChangedAutomation,
    NewAutomation,
    planned,
)
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.inbox import rules
from mailqueue.projects.model import Scope
from mailqueue.sequences import definitions, enrollments

MAX_NAME = 200
ENDED_TOGETHER = 500
MAX_ENDED = 20_000
"""Most runs that one request cancels."""
_COPY = " (copy)"


class AutomationPage(ListPage):
    """The query of GET /automations."""

    status: Literal["enabled", "disabled"] | None = None


async def create(call: RequestContext) -> Response:
    """Add an automation: a sequence that is published, and a rule that enrolls; all or nothing."""
    body = await body_of(call, NewAutomation)
    made = await _added(call, body.name, body.status, body.steps, body.connections)
    return _answer(made, status=201)


async def index(call: RequestContext) -> Response:
    """List automations, newest first."""
    query = page_query(call, AutomationPage)
    found = sorted(await _automations(call), key=lambda one: one.id, reverse=True)
    if query.status is not None:
        found = [one for one in found if one.settings["status"] == query.status]
    page, has_more = page_of(found, query, lambda one: one.id)
    return list_answer([_listed(one) for one in page], has_more)


async def show(call: RequestContext) -> Response:
    """Show an automation with its steps."""
    one = await automation_of(call)
    steps = {"steps": one.settings["steps"], "connections": one.settings["connections"]}
    return json_answer({"object": "automation", **_listed(one), **steps})


async def change(call: RequestContext) -> Response:
    """Change an automation; new steps are for those that it begins with from now on."""
    one = await automation_of(call)
    body = await body_of(call, ChangedAutomation)
    if (body.steps is None) != (body.connections is None):
        raise InvalidField("connections", "`steps` and `connections` are given together")
    settings = body.model_dump(include={"name", "status"}, exclude_none=True)
    rule: dict[str, Any] = {}
    if body.status is not None:
        rule["is_enabled"] = body.status == "enabled"
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        if body.steps is not None and body.connections is not None:
            plan = planned(body.steps, body.connections)
            steps = await _steps(call, plan)
            await definitions.change(
                conn, project_id, one.subject, given={"steps": steps}, by=call.by
            )
            await definitions.publish(conn, project_id, one.subject, by=call.by)
            rule |= {"event_type": plan.event, "variables": dict(plan.variables)}
            settings |= _documents(body.steps, body.connections)
        await rules.change(conn, project_id, one.subject, given=rule, by=call.by)
        changed = await _put(call, settings)
    return _answer(changed)


async def stop(call: RequestContext) -> Response:
    """Disable an automation, and cancel its runs."""
    one = await automation_of(call)
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        given = {"is_enabled": False}
        await rules.change(conn, project_id, one.subject, given=given, by=call.by)
        changed = await _put(call, {"status": "disabled"})
    for state in ("active", "paused"):
        for _ in range(MAX_ENDED // ENDED_TOGETHER):
            async with call.connection() as conn:
                page = await enrollments.list_page(
                    conn,
                    project_id,
                    sequence=one.subject,
                    email=None,
                    state=state,
                    before=None,
                    limit=ENDED_TOGETHER,
                )
                ids = [each.id for each in page.data]
                await enrollments.end_all(conn, ids, by=call.by)
            if page.next_cursor is None:
                break
        else:
            raise InvalidField("automation_id", "more runs are in progress: stop it again")
    document = {"object": "automation", "id": changed.id, "status": "disabled"}
    return json_answer(document)


async def duplicate(call: RequestContext) -> Response:
    """Add an automation with the steps of another, which is disabled."""
    one = await automation_of(call)
    name = one.settings["name"][: MAX_NAME - len(_COPY)] + _COPY
    steps = [AutomationStepBody.model_validate(each) for each in one.settings["steps"]]
    links = [AutomationConnectionBody.model_validate(each) for each in one.settings["connections"]]
    return _answer(await _added(call, name, "disabled", steps, links), status=201)


async def remove(call: RequestContext) -> Response:
    """Remove an automation; its runs end before their next mail."""
    one = await automation_of(call)
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        for removal in (definitions.remove, rules.remove):  # locked in the order of change()
            try:
                await removal(conn, project_id, one.subject, by=call.by)
            except NotFound:
                continue  # removed by another API
        await remove_rule(call, RuleKind.AUTOMATION, one)
    return json_answer({"object": "automation", "id": one.id, "deleted": True})


async def automation_of(call: RequestContext) -> ProjectRule:
    """Return the automation of the path.

    Raises:
        NotFound: the project has none of the id.
    """
    automation_id = call.id("automation_id")
    for one in await _automations(call):
        if one.id == automation_id:
            return one
    raise NotFound("automation", automation_id)


async def _added(
    call: RequestContext,
    name: str,
    status: str,
    steps: list[AutomationStepBody],
    connections: list[AutomationConnectionBody],
) -> ProjectRule:
    plan = planned(steps, connections)
    subject = f"automation-{secrets.token_hex(8)}"
    project_id = call.caller.project_id
    async with call.in_one_transaction() as conn:
        given = {"steps": await _steps(call, plan), "reenroll": "after_end", "description": name}
        await definitions.add(conn, project_id, subject, given=given, by=call.by)
        await definitions.publish(conn, project_id, subject, by=call.by)
        rule = {
            "event_type": plan.event,
            "action": "enroll",
            "recipient": "$.email",
            "sequence": subject,
            "variables": dict(plan.variables),
            "is_enabled": status == "enabled",
        }
        await rules.add(conn, project_id, subject, given=rule, by=call.by)
        settings = {"name": name, "status": status, **_documents(steps, connections)}
        settings["updated_at"] = stamp(datetime.now(UTC))
        made = await put_rule(call, RuleKind.AUTOMATION, subject, settings)
    assert made is not None  # no other has the subject, which was drawn
    return made


async def _steps(call: RequestContext, plan: AutomationPlan) -> list[dict[str, Any]]:
    """Return the steps of a sequence.

    Raises:
        InvalidField: the project has no template that a step names.
    """
    steps = []
    for mail in plan.mails:
        try:
            template = await own_template(call, mail.template)
        except NotFound:
            field = f"steps.{mail.place}.config.template.id"
            raise InvalidField(field, "is the id of no template") from None
        steps.append(mail.step(template.slug))
    return steps


async def _put(call: RequestContext, changed: dict[str, Any]) -> ProjectRule:
    """Replace what changes of what is stored of the automation of the path.

    The transaction has changed its event rule, and so waited for others that change it: the rest
    stays as they left it.

    Raises:
        NotFound: it was removed meanwhile.
    """
    one = await automation_of(call)
    settings = {**one.settings, **changed, "updated_at": stamp(datetime.now(UTC))}
    found = await put_rule(call, RuleKind.AUTOMATION, one.subject, settings, rule_id=one.id)
    if found is None:
        raise NotFound("automation", one.id)
    return found


async def _automations(call: RequestContext) -> list[ProjectRule]:
    async with call.connection() as conn:
        return await list_rules(conn, call.caller.project_id, RuleKind.AUTOMATION)


def _documents(
    steps: list[AutomationStepBody], connections: list[AutomationConnectionBody]
) -> dict[str, Any]:
    return {
        "steps": [one.model_dump() for one in steps],
        "connections": [one.model_dump(by_alias=True) for one in connections],
    }


def _answer(one: ProjectRule, *, status: int = 200) -> Response:
    return json_answer({"object": "automation", "id": one.id}, status=status)


def _listed(one: ProjectRule) -> dict[str, Any]:
    updated_at = datetime.fromisoformat(one.settings["updated_at"])
    return {
        "id": one.id,
        "name": one.settings["name"],
        "status": one.settings["status"],
        "created_at": stamp(one.created_at),
        "updated_at": stamp(max(updated_at, one.created_at)),
    }


def _endpoint(method: str, path: str, summary: str, handler: Any) -> Endpoint:
    scope = Scope.PROJECT_READ if method == "GET" else Scope.PROJECT_WRITE
    return managing_endpoint(scope, method, path, summary, handler)


_PATH = "/automations"
_ONE = f"{_PATH}/{{automation_id}}"
AUTOMATION_ENDPOINTS = (
    _endpoint("POST", _PATH, "Add an automation.", create),
    _endpoint("GET", _PATH, "List automations.", index),
    _endpoint("GET", _ONE, "Show an automation.", show),
    _endpoint("PATCH", _ONE, "Change an automation.", change),
    _endpoint("POST", f"{_ONE}/stop", "Disable an automation, and cancel its runs.", stop),
    _endpoint("POST", f"{_ONE}/duplicate", "Copy an automation.", duplicate),
    _endpoint("DELETE", _ONE, "Remove an automation.", remove),
)

"""Endpoints of event rules."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.inbox.schema import ChangeEventRule, NewEventRule, TryEventRule
from mailqueue.contract.automation.inbox import EventRule, EventRules, RuleTrial
from mailqueue.inbox import rules
from mailqueue.projects.model import Scope

_TAG = "Events"
PATH = "/v1/event-rules"
_ONE = PATH + "/{rule}"


async def list_(call: RequestContext) -> EventRules:
    """List all event rules."""
    async with call.connection() as conn:
        return EventRules(await rules.list_(conn, call.caller.project_id))


async def get(call: RequestContext) -> EventRule:
    """Return one event rule."""
    async with call.connection() as conn:
        return await rules.get(conn, call.caller.project_id, call.path["rule"])


async def add(call: RequestContext) -> EventRule:
    """Add an event rule."""
    given = call.body.model_dump(exclude_unset=True)
    name = given.pop("name")
    async with call.connection() as conn:
        return await rules.add(conn, call.caller.project_id, name, given=given, by=call.by)


async def change(call: RequestContext) -> EventRule:
    """Change an event rule."""
    given = call.body.model_dump(exclude_unset=True)
    async with call.connection() as conn:
        return await rules.change(
            conn, call.caller.project_id, call.path["rule"], given=given, by=call.by
        )


async def remove(call: RequestContext) -> None:
    """Remove an event rule."""
    async with call.connection() as conn:
        await rules.remove(conn, call.caller.project_id, call.path["rule"], by=call.by)


async def try_out(call: RequestContext) -> RuleTrial:
    """Return what a rule would do with a sample."""
    body: TryEventRule = call.body
    async with call.connection() as conn:
        return await rules.try_out(
            conn,
            call.caller.project_id,
            call.path["rule"],
            payload=body.payload,
            headers=body.headers,
        )


RULE_ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List event rules.",
        list_,
        response=EventRules,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Add an event rule.",
        add,
        request=NewEventRule,
        response=EventRule,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={
            "name": "order-placed",
            "event_type": "PlaceOrderCommand",
            "condition": "$.total > 0",
            "template": "order-confirmation",
            "recipient": "$.customer.email",
            "recipient_name": "$.customer.name",
            "variables": {"order_id": "$.orderId", "total": "$.total"},
            "key": "$.orderId",
        },
        description="A new rule is disabled unless `is_enabled` says otherwise: try it first. A "
        "project may have 200 rules, and 20 enabled ones for one type of event.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.PROJECT_READ,
        "Show an event rule.",
        get,
        response=EventRule,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        _ONE,
        Scope.PROJECT_WRITE,
        "Change an event rule.",
        change,
        request=ChangeEventRule,
        response=EventRule,
        tag=_TAG,
        example={"is_enabled": True},
        description="Each change is a new version in the audit log. A rule never acts twice on one "
        "event, whatever its versions.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.PROJECT_WRITE,
        "Remove an event rule.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="What it did with events stays recorded.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/try",
        Scope.PROJECT_READ,
        "Try an event rule on a sample.",
        try_out,
        request=TryEventRule,
        response=RuleTrial,
        tag=_TAG,
        once=Once.NEVER,
        example={
            "payload": {
                "orderId": "81",
                "total": 120.5,
                "customer": {"name": "Ann Lee", "email": "ann@example.com"},
            }
        },
        description="Returns what the rule, enabled or not, would do. Nothing is kept.",
        test_keys=ForTestKeys.REFUSED,
    ),
)

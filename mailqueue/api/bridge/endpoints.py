"""Endpoints of queues of RabbitMQ and dead letters."""

from uuid import UUID

from mailqueue.api.bridge.schema import LettersQuery, ReplayLetters
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.bridge import letters
from mailqueue.bridge.model import LetterFilter
from mailqueue.contract.automation.bridge import (
    BrokerQueues,
    DeadLetter,
    DeadLetterDetail,
    LetterReplay,
)
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope

_TAG = "Events"
PATH = "/v1/dead-letters"


async def queues(call: RequestContext) -> BrokerQueues:
    """List the queues of the project."""
    async with call.connection() as conn:
        return BrokerQueues(await letters.queues(conn, call.caller.project_id))


async def list_(call: RequestContext) -> Page[DeadLetter]:
    """List dead letters, newest first."""
    query: LettersQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        return await letters.list_page(
            conn,
            call.caller.project_id,
            filters=LetterFilter(query.type, query.since, query.until),
            status=query.status,
            before=before,
            limit=query.limit,
        )


async def show(call: RequestContext) -> DeadLetterDetail:
    """Return a dead letter."""
    async with call.connection() as conn:
        return await letters.show(conn, call.caller.project_id, call.id("letter_id"))


async def replay(call: RequestContext) -> LetterReplay:
    """Replay dead letters."""
    body: ReplayLetters = call.body
    (after,) = key_of(body.cursor, UUID)
    async with call.connection() as conn:
        return await letters.replay(
            conn,
            call.caller.project_id,
            call.caller.project,
            ids=body.ids,
            filters=LetterFilter(body.type, body.since, body.until),
            after=after,
            limit=body.limit,
            is_dry=body.dry_run,
            by=call.by,
        )


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/broker-queues",
        Scope.PROJECT_READ,
        "List queues of RabbitMQ whose messages are events.",
        queues,
        response=BrokerQueues,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.EMAIL_READ,
        "List dead letters, newest first.",
        list_,
        query=LettersQuery,
        response=Page[DeadLetter],
        tag=_TAG,
        description="Messages of RabbitMQ that did not become events, each with the reason.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{PATH}/replay",
        Scope.EMAIL_SEND,
        "Replay dead letters by today's rules.",
        replay,
        request=ReplayLetters,
        response=LetterReplay,
        tag=_TAG,
        example={"type": "PlaceOrderCommand", "since": "2026-11-20T08:00:00Z", "dry_run": True},
        description="Oldest first, at most 200 per request: repeat with `next_cursor`. A message "
        "that is an event already is not handled again.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{letter_id}}",
        Scope.EMAIL_READ,
        "Show a dead letter with its content.",
        show,
        response=DeadLetterDetail,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
)

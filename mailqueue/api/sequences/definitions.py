"""Endpoints of sequences: list, add, change, publish, pause, remove, count."""

from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.sequences.schema import (
    ChangeSequence,
    CountsQuery,
    MoveEnrollments,
    NewSequence,
)
from mailqueue.contract.automation.sequences import (
    ContactSequence,
    ContactSequences,
    MovedEnrollments,
    SequenceCounts,
    SequenceVersions,
)
from mailqueue.projects.model import Scope
from mailqueue.sequences import definitions

TAG = "Sequences"
PATH = "/v1/sequences"
ONE = PATH + "/{sequence}"


async def list_(call: RequestContext) -> ContactSequences:
    """List all sequences."""
    async with call.connection() as conn:
        return ContactSequences(await definitions.list_(conn, call.caller.project_id))


async def get(call: RequestContext) -> ContactSequence:
    """Return one sequence."""
    async with call.connection() as conn:
        return await definitions.get(conn, call.caller.project_id, call.path["sequence"])


async def versions(call: RequestContext) -> SequenceVersions:
    """List the versions of a sequence."""
    async with call.connection() as conn:
        found = await definitions.versions(conn, call.caller.project_id, call.path["sequence"])
        return SequenceVersions(found)


async def add(call: RequestContext) -> ContactSequence:
    """Add a sequence."""
    given = call.body.model_dump(exclude_unset=True)
    name = given.pop("name")
    async with call.connection() as conn:
        return await definitions.add(conn, call.caller.project_id, name, given=given, by=call.by)


async def change(call: RequestContext) -> ContactSequence:
    """Change a sequence or its draft."""
    given = call.body.model_dump(exclude_unset=True)
    async with call.connection() as conn:
        return await definitions.change(
            conn, call.caller.project_id, call.path["sequence"], given=given, by=call.by
        )


async def publish(call: RequestContext) -> ContactSequence:
    """Publish the draft of a sequence."""
    async with call.connection() as conn:
        return await definitions.publish(
            conn, call.caller.project_id, call.path["sequence"], by=call.by
        )


async def pause(call: RequestContext) -> ContactSequence:
    """Pause a sequence."""
    return await _paused(call, is_paused=True)


async def resume(call: RequestContext) -> ContactSequence:
    """Resume a sequence."""
    return await _paused(call, is_paused=False)


async def _paused(call: RequestContext, *, is_paused: bool) -> ContactSequence:
    async with call.connection() as conn:
        return await definitions.pause(
            conn, call.caller.project_id, call.path["sequence"], is_paused=is_paused, by=call.by
        )


async def remove(call: RequestContext) -> None:
    """Remove a sequence."""
    async with call.connection() as conn:
        await definitions.remove(conn, call.caller.project_id, call.path["sequence"], by=call.by)


async def move(call: RequestContext) -> MovedEnrollments:
    """Move enrollments to the published version."""
    body: MoveEnrollments = call.body
    async with call.connection() as conn:
        return await definitions.move(
            conn,
            call.caller.project_id,
            call.path["sequence"],
            from_version=body.from_version,
            by=call.by,
        )


async def counts(call: RequestContext) -> SequenceCounts:
    """Return counts for each step."""
    query: CountsQuery = call.query
    async with call.connection() as conn:
        return await definitions.counts(
            conn,
            call.caller.project_id,
            call.path["sequence"],
            version=query.version,
            is_test=call.caller.is_test,
        )


SEQUENCE_ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List sequences.",
        list_,
        response=ContactSequences,
        tag=TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Add a sequence.",
        add,
        request=NewSequence,
        response=ContactSequence,
        status=HTTPStatus.CREATED,
        tag=TAG,
        example={
            "name": "onboarding",
            "reenroll": "after_completion",
            "steps": [
                {"name": "welcome", "template": "welcome"},
                {
                    "name": "tips",
                    "template": "tips",
                    "delay": "2d",
                    "at": "09:00",
                    "weekdays": ["mon", "tue", "wed", "thu", "fri"],
                },
                {
                    "name": "offer",
                    "template": "offer",
                    "delay": "3d",
                    "condition": {"event": "clicked", "step": "tips"},
                },
            ],
            "goal": {"event": "OrderPlaced"},
        },
        description="Its steps are a draft: publish it before contacts are enrolled. A project may "
        "have 200 sequences, and a sequence 100 steps and 1,000 versions.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        ONE,
        Scope.PROJECT_READ,
        "Show a sequence.",
        get,
        response=ContactSequence,
        tag=TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        ONE,
        Scope.PROJECT_WRITE,
        "Change a sequence or its draft.",
        change,
        request=ChangeSequence,
        response=ContactSequence,
        tag=TAG,
        example={"reenroll": "never"},
        description="Steps and goal go to the draft, which begins as a copy of the latest version. "
        "The other fields hold for all versions at once.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        ONE,
        Scope.PROJECT_WRITE,
        "Remove a sequence.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=TAG,
        description="Its enrollments end before their next step; what they did stays recorded.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        f"{ONE}/versions",
        Scope.PROJECT_READ,
        "List the versions of a sequence, newest first.",
        versions,
        response=SequenceVersions,
        tag=TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        f"{ONE}/publish",
        Scope.PROJECT_WRITE,
        "Publish the draft of a sequence.",
        publish,
        response=ContactSequence,
        tag=TAG,
        once=Once.NEVER,
        description="Contacts that are enrolled from now on get it; the others stay on their "
        "version until they are moved.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{ONE}/pause",
        Scope.PROJECT_WRITE,
        "Pause a sequence.",
        pause,
        response=ContactSequence,
        tag=TAG,
        once=Once.NEVER,
        description="No step is done while it is paused; contacts can be enrolled.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{ONE}/resume",
        Scope.PROJECT_WRITE,
        "Resume a sequence.",
        resume,
        response=ContactSequence,
        tag=TAG,
        once=Once.NEVER,
        description="Steps that became due meanwhile are done within seconds, those with a time of "
        "day at its next occurrence.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{ONE}/move",
        Scope.PROJECT_WRITE,
        "Move enrollments to the published version.",
        move,
        request=MoveEnrollments,
        response=MovedEnrollments,
        tag=TAG,
        once=Once.NEVER,
        example={"from_version": 1},
        description="By the name of their next step; when it is due is computed anew. At most "
        "10,000 per request: repeat it while any are moved.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        f"{ONE}/counts",
        Scope.ANALYTICS_READ,
        "Count enrollments at each step.",
        counts,
        query=CountsQuery,
        response=SequenceCounts,
        tag=TAG,
        test_keys=ForTestKeys.READ,
    ),
)

"""Endpoints of enrollments: enroll, list, show, end."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.requests.spool import spooled
from mailqueue.api.sequences.definitions import ONE, SEQUENCE_ENDPOINTS, TAG
from mailqueue.api.sequences.schema import EnrollContact, EnrollmentsQuery
from mailqueue.contract.automation.sequences import (
    Enrolled,
    EnrolledList,
    Enrollment,
    EnrollmentDetail,
)
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.sequences import definitions, enrollments
from mailqueue.sequences.importing import EnrollTally, enroll_list

LIST_BYTES = 64 * 1024 * 1024
PATH = "/v1/enrollments"


async def enroll(call: RequestContext) -> Enrolled:
    """Enroll a contact."""
    body: EnrollContact = call.body
    async with call.connection() as conn:
        await definitions.get(conn, call.caller.project_id, call.path["sequence"])
        return await enrollments.enroll(
            conn,
            call.caller.project_id,
            sequence=call.path["sequence"],
            email=body.email,
            variables=body.variables,
            is_test=call.caller.is_test,
            source=call.by,
        )


async def import_(call: RequestContext) -> EnrolledList:
    """Enroll the contacts of a list."""
    tally = EnrollTally()
    # Received completely first: a slow client must not hold a connection.
    async with spooled(call.request, max_bytes=LIST_BYTES) as file, call.connection() as conn:
        await definitions.get(conn, call.caller.project_id, call.path["sequence"])
        await enroll_list(
            conn,
            call.caller.project_id,
            sequence=call.path["sequence"],
            file=file,
            is_test=call.caller.is_test,
            source=call.by,
            tally=tally,
        )
    return tally.result()


async def list_(call: RequestContext) -> Page[Enrollment]:
    """List enrollments, newest first."""
    query: EnrollmentsQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        return await enrollments.list_page(
            conn,
            call.caller.project_id,
            sequence=query.sequence,
            email=query.email,
            state=query.state,
            before=before,
            limit=query.limit,
        )


async def get(call: RequestContext) -> EnrollmentDetail:
    """Return one enrollment."""
    async with call.connection() as conn:
        return await enrollments.get(conn, call.caller.project_id, call.id("enrollment_id"))


async def end(call: RequestContext) -> EnrollmentDetail:
    """End an enrollment."""
    async with call.connection() as conn:
        return await enrollments.end(
            conn, call.caller.project_id, call.id("enrollment_id"), by=call.by
        )


ENDPOINTS = (
    *SEQUENCE_ENDPOINTS,
    Endpoint(
        "POST",
        f"{ONE}/enrollments",
        Scope.EMAIL_SEND,
        "Enroll a contact in a sequence.",
        enroll,
        request=EnrollContact,
        response=Enrolled,
        status=HTTPStatus.CREATED,
        tag=TAG,
        example={"email": "ann@example.com", "variables": {"plan": "pro"}},
        description="A contact that is or was enrolled is enrolled again only as `reenroll` of the "
        "sequence says; `outcome` tells what became of the request. A test key enrolls contacts "
        "that exist, apart from live enrollments, and gets test mail.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{ONE}/enrollments/import",
        Scope.EMAIL_SEND,
        "Enroll the contacts of a list.",
        import_,
        response=EnrolledList,
        tag=TAG,
        once=Once.NEVER,
        description="The body is CSV with a header that names a column email, or JSON: an array "
        "of addresses or of objects, or one object per line. Other columns are variables. Invalid "
        "lines are reported with their number and do not stop the others. At most 64 MiB; it can "
        "be repeated.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.EMAIL_READ,
        "List enrollments, newest first.",
        list_,
        query=EnrollmentsQuery,
        response=Page[Enrollment],
        tag=TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{enrollment_id}}",
        Scope.EMAIL_READ,
        "Show what an enrollment did and will do next.",
        get,
        response=EnrollmentDetail,
        tag=TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "DELETE",
        f"{PATH}/{{enrollment_id}}",
        Scope.EMAIL_SEND,
        "End an enrollment.",
        end,
        response=EnrollmentDetail,
        tag=TAG,
        description="No further step is done; mail that was made stays queued.",
        test_keys=ForTestKeys.OWN,
    ),
)

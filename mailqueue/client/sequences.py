"""Sequences and enrollments: requests of both clients."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain

_PATH, _ENROLLMENTS = "/v1/sequences", "/v1/enrollments"


def list_all() -> ApiRequest[answers.ContactSequences]:
    return ApiRequest("GET", _PATH, answers.ContactSequences)


def get(name: str) -> ApiRequest[answers.ContactSequence]:
    return ApiRequest("GET", f"{_PATH}/{path_part(name)}", answers.ContactSequence)


def act(name: str, action: str) -> ApiRequest[answers.ContactSequence]:
    """Return the request that pauses or resumes a sequence; it can be repeated."""
    path = f"{_PATH}/{path_part(name)}/{action}"
    return ApiRequest("POST", path, answers.ContactSequence, key=new_key())


def counts(name: str, version: int | None) -> ApiRequest[answers.SequenceCounts]:
    path, query = f"{_PATH}/{path_part(name)}/counts", plain({"version": version})
    return ApiRequest("GET", path, answers.SequenceCounts, query=query)


def enroll(name: str, fields: Mapping[str, Any]) -> ApiRequest[answers.Enrolled]:
    path = f"{_PATH}/{path_part(name)}/enrollments"
    return ApiRequest("POST", path, answers.Enrolled, sound(plain(fields)), key=new_key())


def import_(name: str, file: bytes) -> ApiRequest[answers.EnrolledList]:
    """Return the enrollment of a file's contacts; one that was enrolled by it stays so."""
    return ApiRequest(
        "POST",
        f"{_PATH}/{path_part(name)}/enrollments/import",
        answers.EnrolledList,
        octets=file,
        content_type="application/octet-stream",
    )


def enrollments(params: Mapping[str, Any]) -> ApiRequest[answers.Page[answers.Enrollment]]:
    kind = answers.Page[answers.Enrollment]
    return ApiRequest("GET", _ENROLLMENTS, kind, query=plain(params))


def enrollment(enrollment_id: UUID | str) -> ApiRequest[answers.EnrollmentDetail]:
    path = f"{_ENROLLMENTS}/{path_part(enrollment_id)}"
    return ApiRequest("GET", path, answers.EnrollmentDetail)


def end(enrollment_id: UUID | str) -> ApiRequest[answers.EnrollmentDetail]:
    path = f"{_ENROLLMENTS}/{path_part(enrollment_id)}"
    return ApiRequest("DELETE", path, answers.EnrollmentDetail)

"""A/B tests: requests of both clients."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part, sound
from mailqueue.producer.message import plain

PATH = "/v1/analytics/ab-tests"


def create(fields: Mapping[str, Any]) -> ApiRequest[answers.AbTest]:
    """Return the request that creates a test."""
    return ApiRequest("POST", PATH, answers.AbTest, sound(plain(fields)), key=new_key())


def show(test_id: UUID | str) -> ApiRequest[answers.AbTest]:
    """Return the request that shows a test."""
    return ApiRequest("GET", f"{PATH}/{path_part(test_id)}", answers.AbTest)


def add(
    test_id: UUID | str, recipients: Sequence[Mapping[str, Any] | str]
) -> ApiRequest[answers.AbTestResults]:
    """Return the request that sends a test to recipients."""
    people = [{"email": one} if isinstance(one, str) else plain(one) for one in recipients]
    path = f"{PATH}/{path_part(test_id)}/recipients"
    body = sound({"recipients": people})
    return ApiRequest("POST", path, answers.AbTestResults, body, key=new_key())


def decide(test_id: UUID | str, variant: str) -> ApiRequest[answers.AbTest]:
    """Return the request that makes a variant the winner."""
    path = f"{PATH}/{path_part(test_id)}/decide"
    return ApiRequest("POST", path, answers.AbTest, sound({"variant": variant}), key=new_key())


def cancel(test_id: UUID | str) -> ApiRequest[answers.AbTest]:
    """Return the request that cancels a test."""
    path = f"{PATH}/{path_part(test_id)}/cancel"
    return ApiRequest("POST", path, answers.AbTest, key=new_key())

"""Responses that contacts and lists of SendGrid's API have in common."""

from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.responses import Response

from mailqueue.api.http.responses import json_answer


def job_answer() -> Response:
    """Return the response to what SendGrid does after its answer."""
    return json_answer({"job_id": uuid4()}, status=HTTPStatus.ACCEPTED)


def counted(total: int) -> dict[str, Any]:
    """Return a number of contacts as SendGrid shows it. Pure."""
    return {"contact_count": total, "billable_count": total}

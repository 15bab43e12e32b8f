"""SparkPost's documentation of requests, responses and events, as tests use it."""

import re
from typing import Any

from mailqueue.adapters.sending.sparkpost import Sparkpost  # type: ignore[import-not-found]

from mailqueue.adapters.sending.api import ProviderAccount
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Fault
from tests.adapters.sending.documented import ANN, KEY, DocumentedProvider, Refusal
from tests.adapters.sending.fake import Request, says
from tests.adapters.sending.strict import fields, headers, is_message


def _error(message: str, description: str = "", code: str = "") -> dict[str, Any]:
    given = {"message": message, "description": description, "code": code}
    return {"errors": [{name: value for name, value in given.items() if value}]}


SPARKPOST = DocumentedProvider(
    "sparkpost",
    lambda site, settings: Sparkpost(ProviderAccount(Secret(KEY), "", site, settings)),
    says(
        200,
        {
            "results": {
                "total_rejected_recipients": 0,
                "total_accepted_recipients": 1,
                "id": "11668787484950529",
            }
        },
    ),
    "11668787484950529",
    (
        Refusal(400, _error("invalid data format/type", "no", "1300"), Fault.PERMANENT_MESSAGE),
        Refusal(422, _error("required field is missing", "no", "1400"), Fault.PERMANENT_MESSAGE),
        Refusal(
            400,
            _error("At least one valid recipient is required", f"no {ANN}", "5001"),
            Fault.PERMANENT_RECIPIENT,
        ),
        Refusal(400, _error("Unconfigured Sending Domain <no>", "", "7001"), Fault.ACCOUNT),
        Refusal(401, _error("Unauthorized. no"), Fault.ACCOUNT, stops=True),
        Refusal(403, _error("Forbidden. no"), Fault.ACCOUNT, stops=True),
        Refusal(413, b"too large, no", Fault.PERMANENT_MESSAGE),
        Refusal(420, _error("Exceed Sending Limit (daily) no", "", "2102"), Fault.RATE_LIMITED),
        Refusal(429, _error("Too many requests no"), Fault.RATE_LIMITED),
        Refusal(500, b"", Fault.AMBIGUOUS),
        Refusal(503, b"", Fault.TRANSIENT),
    ),
)


def check(request: Request) -> None:
    """Refuse a request that SparkPost would refuse."""
    assert (request.method, request.path) == ("POST", "/api/v1/transmissions")
    headers(request, authorization=KEY, content_type="application/json", accept="application/json")
    fields(
        request.json,
        {"recipients": list, "content": dict, "metadata": dict, "options": dict},
        "recipients",
        "content",
    )
    fields(request.json["content"], {"email_rfc822": str}, "email_rfc822")
    is_message(request.json["content"]["email_rfc822"].encode())
    for one in request.json["recipients"]:
        fields(one, {"address": dict, "tags": list, "metadata": dict}, "address")
        fields(one["address"], {"email": str, "name": str, "header_to": str}, "email")
        assert re.fullmatch(r"[^@\s]+@[^@\s]+", one["address"]["email"])

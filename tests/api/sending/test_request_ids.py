"""The request id of a request that sent mail leads to the mail."""

import pytest

from tests.api.support.calling import HELLO, Calling

pytestmark = pytest.mark.anyio


async def test_the_request_id_of_a_request_that_sent_is_the_id_of_its_email(api: Calling) -> None:
    sent = await api.send(HELLO)
    batch = await api.post(
        "/v1/send/batch",
        {"subject": "Hello", "text_body": "x", "recipients": [{"email": "ben@example.com"}]},
    )
    named = await api.send(HELLO, X_Request_Id="order-4711")
    refused = await api.send({})

    assert sent.headers["x-request-id"] == sent.json()["id"].replace("-", "")
    assert batch.headers["x-request-id"] == batch.json()["batch_id"].replace("-", "")
    assert named.headers["x-request-id"] == "order-4711"
    assert refused.headers["x-request-id"] == refused.json()["request_id"]

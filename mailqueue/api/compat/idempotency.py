"""Idempotency for compatible APIs: requests with the same key take effect once.

Key, effect and response are one transaction: a concurrent request waits for it and gets the same
response, for 24 hours. A refused request leaves its key unused.
"""

import hashlib
from typing import Any

import orjson
from starlette.responses import Response

from mailqueue.api.http import store
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.idempotency import REPLAYED, Respond
from mailqueue.api.http.responses import json_bytes_answer
from mailqueue.core.errors import InputError
from mailqueue.core.json.writing import write_json


class AnotherRequest(InputError):
    """The idempotency key was used for another request within 24 hours."""


async def respond_once(
    call: RequestContext, key: str, document: Any, *, answering: Respond
) -> Response:
    """Return the response to a request, or the stored response of its idempotency key.

    `answering` opens its connections by the request context.

    Raises:
        AnotherRequest: the key was used for another request.
        Busy: the same request is still in progress.
    """
    owner = call.caller.project_id
    asked = f"{call.request.method} {call.request.url.path}\n"
    said = write_json(document, option=orjson.OPT_SORT_KEYS)
    fingerprint = hashlib.sha256(asked.encode() + said).digest()
    # Their keys may be longer than ours, and are separate from the keys of /v1.
    stored = call.kept_key("shape-" + hashlib.sha256(key.encode()).hexdigest())
    kept = store.ReservedKey(owner, stored, fingerprint)
    async with call.in_one_transaction() as conn:
        earlier = await store.reserve_response(conn, kept)
        if earlier is None:
            response = await answering()
            await store.store_response(
                conn,
                kept,
                status=response.status_code,
                content_type=response.headers.get("content-type"),
                body=bytes(response.body),
            )
            return response
    if earlier.fingerprint != fingerprint or earlier.status is None:
        raise AnotherRequest("this idempotency key was used for another request within 24 hours")
    return json_bytes_answer(earlier.body or b"", status=earlier.status, headers={REPLAYED: "true"})

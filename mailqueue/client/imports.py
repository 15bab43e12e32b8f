"""Imports that workers carry out: requests of both clients."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from mailqueue.client import answers
from mailqueue.client.request import ApiRequest, new_key, path_part
from mailqueue.producer.message import plain

MAX_KEYED_BYTES = 30 * 1024 * 1024
"""Bytes of a file that the API takes with an Idempotency-Key."""

ImportedKind = Literal["contacts", "suppressions"]


def begin(
    kind: ImportedKind, file: bytes, params: Mapping[str, Any]
) -> ApiRequest[answers.DataImport]:
    """Return the request that begins an import, once where the file is small enough for a key."""
    return ApiRequest(
        "POST",
        f"/v1/{path_part(kind)}/imports",
        answers.DataImport,
        query=plain(params),
        key=new_key() if len(file) <= MAX_KEYED_BYTES else None,
        octets=file,
        content_type="application/octet-stream",
    )


def one(kind: ImportedKind, import_id: UUID | str) -> ApiRequest[answers.DataImport]:
    """Return the request that shows an import."""
    path = f"/v1/{path_part(kind)}/imports/{path_part(import_id)}"
    return ApiRequest("GET", path, answers.DataImport)


def cancel(kind: ImportedKind, import_id: UUID | str) -> ApiRequest[answers.DataImport]:
    """Return the request that cancels an import."""
    path = f"/v1/{path_part(kind)}/imports/{path_part(import_id)}/cancel"
    return ApiRequest("POST", path, answers.DataImport, key=new_key())


def list_page(
    kind: ImportedKind, params: Mapping[str, Any]
) -> ApiRequest[answers.Page[answers.DataImport]]:
    """Return the request that lists imports, newest first."""
    path = f"/v1/{path_part(kind)}/imports"
    return ApiRequest("GET", path, answers.Page[answers.DataImport], query=plain(params))

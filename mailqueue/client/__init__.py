"""The Python client of the HTTP API: `Client` for asyncio, `SyncClient` for scripts."""

from mailqueue.client.answers import (
    Acted,
    AddedSuppression,
    Attempt,
    Batch,
    BatchResult,
    BatchState,
    CheckedSuppression,
    Email,
    Event,
    ListedEmail,
    Moment,
    Page,
    Preview,
    Recipient,
    RemovedSuppression,
    Sent,
    Suppression,
    Template,
    TemplateVersion,
    Uploaded,
)
from mailqueue.client.asynchronous import Client
from mailqueue.client.errors import (
    ApiError,
    BadAnswer,
    ClientError,
    Conflict,
    Forbidden,
    InvalidRequest,
    NoAnswer,
    NotFound,
    ServerError,
    TooManyRequests,
    Unauthorized,
)
from mailqueue.client.request import To
from mailqueue.client.retrying import Retries
from mailqueue.client.synchronous import SyncClient
from mailqueue.producer.model import Attachment, UploadedFile

Kept = UploadedFile
"""The name of `UploadedFile` in earlier versions."""

__all__ = [
    "Acted",
    "AddedSuppression",
    "ApiError",
    "Attachment",
    "Attempt",
    "BadAnswer",
    "Batch",
    "BatchResult",
    "BatchState",
    "CheckedSuppression",
    "Client",
    "ClientError",
    "Conflict",
    "Email",
    "Event",
    "Forbidden",
    "InvalidRequest",
    "Kept",
    "ListedEmail",
    "Moment",
    "NoAnswer",
    "NotFound",
    "Page",
    "Preview",
    "Recipient",
    "RemovedSuppression",
    "Retries",
    "Sent",
    "ServerError",
    "Suppression",
    "SyncClient",
    "Template",
    "TemplateVersion",
    "To",
    "TooManyRequests",
    "Unauthorized",
    "Uploaded",
    "UploadedFile",
]

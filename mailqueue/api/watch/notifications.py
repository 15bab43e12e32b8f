"""Endpoints of notifications."""

from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import page_of
from mailqueue.api.watch.channels import CHANNEL_ENDPOINTS
from mailqueue.api.watch.inboxes import INBOX_ENDPOINTS
from mailqueue.api.watch.invitations import INVITATION_ENDPOINTS
from mailqueue.api.watch.muted import MUTED_ENDPOINTS
from mailqueue.api.watch.people import RULE_ENDPOINTS, USER_ENDPOINTS
from mailqueue.api.watch.schema import NotificationQuery, RetryNotifications
from mailqueue.contract.page import Page
from mailqueue.contract.watch import Notification, NotificationRetry, NotificationStatus
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.watch import notifications

_TAG = "Inbox watch"
PATH = "/v1/notifications"


async def list_(call: RequestContext) -> Page[Notification]:
    """List notifications, newest first."""
    query: NotificationQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    status = None if query.delivery_status is None else NotificationStatus(query.delivery_status)
    async with call.connection() as conn:
        found = await notifications.list_page(
            conn,
            call.caller.project_id,
            user_id=query.user_id,
            status=status,
            before=before,
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def get(call: RequestContext) -> Notification:
    """Return one notification."""
    async with call.connection() as conn:
        return await notifications.get(conn, call.caller.project_id, call.id("notification_id"))


async def retry(call: RequestContext) -> NotificationRetry:
    """Deliver notifications again."""
    body: RetryNotifications = call.body
    async with call.connection() as conn:
        return await notifications.retry(conn, call.caller.project_id, body.ids, by=call.by)


ENDPOINTS = (
    *USER_ENDPOINTS,
    *INVITATION_ENDPOINTS,
    *INBOX_ENDPOINTS,
    *CHANNEL_ENDPOINTS,
    *RULE_ENDPOINTS,
    *MUTED_ENDPOINTS,
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List notifications of new mail.",
        list_,
        query=NotificationQuery,
        response=Page[Notification],
        tag=_TAG,
        description="Newest first, of the last 30 days.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        PATH + "/{notification_id}",
        Scope.PROJECT_READ,
        "Show a notification.",
        get,
        response=Notification,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{PATH}/retry",
        Scope.PROJECT_WRITE,
        "Deliver notifications again.",
        retry,
        request=RetryNotifications,
        response=NotificationRetry,
        tag=_TAG,
        example={"ids": ["0197b8f0-0000-7000-8000-0000000000c2"]},
        description="Those that failed, and those of which it is unknown whether they arrived, "
        "which may arrive twice.",
        test_keys=ForTestKeys.REFUSED,
    ),
)

"""The tables of all endpoints and compatible APIs, from which routes and documents are derived."""

from mailqueue.api.admin import endpoints as admin_endpoints
from mailqueue.api.admin import infrastructure, members, privacy, search, users
from mailqueue.api.admin import producers as producer_endpoints
from mailqueue.api.admin import templates as platform_templates
from mailqueue.api.analytics import endpoints as analytics_endpoints
from mailqueue.api.bridge import endpoints as bridge_endpoints
from mailqueue.api.compat.mailgun.endpoints import MAILGUN
from mailqueue.api.compat.model import CompatApi
from mailqueue.api.compat.postmark.endpoints import POSTMARK
from mailqueue.api.compat.resend.endpoints import RESEND
from mailqueue.api.compat.sendgrid.endpoints import SENDGRID
from mailqueue.api.contacts import endpoints as contacts_endpoints
from mailqueue.api.domains import dkim, tracking
from mailqueue.api.emails import endpoints as emails_endpoints
from mailqueue.api.emails import operations, recipients
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.inbox import endpoints as inbox_endpoints
from mailqueue.api.projects import activity, byok, own_keys, pauses
from mailqueue.api.projects import endpoints as projects_endpoints
from mailqueue.api.projects import keys as projects_keys
from mailqueue.api.projects import templates as projects_templates
from mailqueue.api.publishing import endpoints as publishing_endpoints
from mailqueue.api.schedules import endpoints as schedules_endpoints
from mailqueue.api.senders import endpoints as senders_endpoints
from mailqueue.api.sending import attachments
from mailqueue.api.sending import endpoints as sending_endpoints
from mailqueue.api.sequences import endpoints as sequences_endpoints
from mailqueue.api.suppression import categories
from mailqueue.api.suppression import endpoints as suppression_endpoints
from mailqueue.api.templates import endpoints as templates_endpoints
from mailqueue.api.templates import pictures as templates_pictures
from mailqueue.api.timed_events import endpoints as timed_events_endpoints
from mailqueue.api.watch import notifications as watch_endpoints
from mailqueue.api.webhooks import endpoints as webhooks_endpoints

ENDPOINTS: tuple[Endpoint, ...] = (
    *sending_endpoints.ENDPOINTS,
    *attachments.ENDPOINTS,
    *emails_endpoints.ENDPOINTS,
    *operations.ENDPOINTS,
    *recipients.ENDPOINTS,
    *inbox_endpoints.ENDPOINTS,
    *bridge_endpoints.ENDPOINTS,
    *sequences_endpoints.ENDPOINTS,
    *publishing_endpoints.ENDPOINTS,
    *timed_events_endpoints.ENDPOINTS,
    *schedules_endpoints.ENDPOINTS,
    *analytics_endpoints.ENDPOINTS,
    *watch_endpoints.ENDPOINTS,
    *own_keys.ENDPOINTS,
    *suppression_endpoints.ENDPOINTS,
    *contacts_endpoints.ENDPOINTS,
    *privacy.ENDPOINTS,
    *categories.ENDPOINTS,
    *webhooks_endpoints.ENDPOINTS,
    *templates_endpoints.ENDPOINTS,
    *templates_pictures.ENDPOINTS,
    *senders_endpoints.ENDPOINTS,
    *byok.ENDPOINTS,
    *dkim.ENDPOINTS,
    *tracking.ENDPOINTS,
    *pauses.ENDPOINTS,
    *activity.ENDPOINTS,
    *projects_endpoints.ENDPOINTS,
    *projects_keys.ENDPOINTS,
    *projects_templates.ENDPOINTS,
    *admin_endpoints.ENDPOINTS,
    *infrastructure.ENDPOINTS,
    *search.ENDPOINTS,
    *pauses.ADMIN_ENDPOINTS,
    *platform_templates.ENDPOINTS,
    *producer_endpoints.ENDPOINTS,
    *users.ENDPOINTS,
    *members.ENDPOINTS,
)

SHAPES: tuple[CompatApi, ...] = (RESEND, POSTMARK, SENDGRID, MAILGUN)
SHAPED = frozenset(
    endpoint.path for shape in SHAPES for endpoint in shape.endpoints if "{" not in endpoint.path
)
"""The paths of compatible APIs without variables."""

"""Every endpoint there is: routes, validation and documents are made from this table."""

from mailqueue.api import (
    admin,
    attachments,
    byok,
    categories,
    dkim,
    emails,
    keys,
    privacy,
    projects,
    projects_keys,
    projects_templates,
    recipients,
    sending,
    smtp_configs,
    suppressions,
    templates,
    tracking_domain,
    webhooks,
)
from mailqueue.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *sending.ENDPOINTS,
    *attachments.ENDPOINTS,
    *emails.ENDPOINTS,
    *recipients.ENDPOINTS,
    *keys.ENDPOINTS,
    *suppressions.ENDPOINTS,
    *privacy.ENDPOINTS,
    *categories.ENDPOINTS,
    *webhooks.ENDPOINTS,
    *templates.ENDPOINTS,
    *smtp_configs.ENDPOINTS,
    *byok.ENDPOINTS,
    *dkim.ENDPOINTS,
    *tracking_domain.ENDPOINTS,
    *projects.ENDPOINTS,
    *projects_keys.ENDPOINTS,
    *projects_templates.ENDPOINTS,
    *admin.ENDPOINTS,
)

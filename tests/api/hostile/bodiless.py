"""Requests of compatible APIs that are of several APIs, or have no body."""

from tests.api.hostile.bodies import SETTINGS

SHARED = {
    f"{method} {path}"
    for method in ("POST", "GET")
    for path in ("/webhooks", "/templates", "/domains")
}
"""Requests of several APIs; the credential tells whose they are."""
WITHOUT_BODY = {
    "POST /v3/whitelabel/domains/{domain_id}/validate",
    "POST /templates/{template_id}/publish",
    "POST /templates/{template_id}/duplicate",
    "POST /emails/{email_id}/cancel",
    "POST /broadcasts/{broadcast_id}/cancel",
    "POST /automations/{automation_id}/stop",
    "POST /automations/{automation_id}/duplicate",
    "POST /broadcasts/{broadcast_id}/duplicate",
    "PUT /bounces/{bounce_id}/activate",
    "POST /senders/{sender_number}/verifyspf",
    "POST /senders/{sender_number}/requestnewdkim",
    "PUT /messages/inbound/{inbound_id}/bypass",
    "PUT /messages/inbound/{inbound_id}/retry",
    f"PATCH {SETTINGS}/signed",
    "POST /domains/{domain_id}/verify",
    "POST /webhooks/{webhook_id}/events/{delivery_id}/replay",
    "POST /webhooks/{webhook_id}/signing-secret/rotate",
    "PUT /domains/{domain_number}/verifyDkim",
    "PUT /domains/{domain_number}/verifyReturnPath",
    "POST /domains/{domain_number}/verifyspf",
    "POST /domains/{domain_number}/rotatedkim",
    "POST /v3/templates/{template_id}/versions/{version_id}/activate",
    "POST /contacts/{contact}/segments/{segment}",
    "POST /v3/mail/batch",
    "PUT /v3/domains/{domain}/verify",
    "PUT /v4/domains/{domain}/verify",
    "PUT /v3/{domain}/templates/{template}/versions/{tag}/copy/{new_tag}",
    "PUT /v4/templates/{template}/versions/{tag}/copy/{new_tag}",
}

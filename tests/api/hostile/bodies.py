"""A body of each endpoint of the compatible APIs that takes one."""

import base64
from typing import Any

from tests.api.hostile.automated import AUTOMATED
from tests.api.hostile.marketing import MARKETING
from tests.api.hostile.of_domains import OF_DOMAINS
from tests.api.hostile.test_inputs import NO_ID

HEADERS = {"X-Order": "81"}
FILE = base64.b64encode(b"hello").decode()
RESEND = {
    "from": "Shop <shop@example.com>",
    "to": ["ann@example.com"],
    "cc": ["bob@example.com"],
    "reply_to": "help@example.com",
    "subject": "Hello",
    "html": "<p>Hello</p>",
    "text": "Hello",
    "headers": HEADERS,
    "tags": [{"name": "kind", "value": "news"}],
    "attachments": [{"filename": "a.txt", "content": FILE}],
}
POSTMARK = {
    "From": "Shop <shop@example.com>",
    "To": "ann@example.com",
    "Cc": "bob@example.com",
    "ReplyTo": "help@example.com",
    "Subject": "Hello",
    "HtmlBody": "<p>Hello</p>",
    "TextBody": "Hello",
    "Tag": "news",
    "Metadata": {"order": "81"},
    "MessageStream": "outbound",
    "Headers": [{"Name": "X-Order", "Value": "81"}],
    "Attachments": [{"Name": "a.txt", "Content": FILE, "ContentType": "text/plain"}],
}
TEMPLATE = {
    "From": "Shop <shop@example.com>",
    "To": "ann@example.com",
    "TemplateAlias": "welcome",
    "TemplateModel": {"name": "Ann"},
}
SENDGRID = {
    "personalizations": [
        {
            "to": [{"email": "ann@example.com", "name": "Ann"}],
            "subject": "Hello",
            "headers": HEADERS,
            "substitutions": {"-name-": "Ann"},
            "custom_args": {"order": "81"},
        }
    ],
    "from": {"email": "shop@example.com", "name": "Shop"},
    "reply_to": {"email": "help@example.com", "name": "Help"},
    "content": [{"type": "text/plain", "value": "Hello"}],
    "categories": ["news"],
    "attachments": [{"content": FILE, "filename": "a.txt", "type": "text/plain"}],
}
MAILGUN = {
    "from": "Shop <shop@example.com>",
    "to": "ann@example.com",
    "cc": "bob@example.com",
    "subject": "Hello",
    "text": "Hello",
    "html": "<p>Hello</p>",
    "h:X-Order": "81",
    "v:order": "81",
    "o:tag": "news",
    "o:deliverytime": "Thu, 01 Jan 2026 00:00:00 +0000",
    "recipient-variables": '{"ann@example.com": {"name": "Ann"}}',
}
BULK = {
    **{name: value for name, value in POSTMARK.items() if name not in ("To", "Cc", "Bcc")},
    "Subject": "Hello {{name}}",
    "Messages": [{"To": "ann@example.com", "TemplateModel": {"name": "Ann"}}],
}
SIGNATURE = {"Name": "Ann", "ReplyToEmail": "help@example.com", "ReturnPathDomain": ""}
TRIGGER = {"MatchName": "order", "TrackOpens": True}
ENTRIES = {"Suppressions": [{"EmailAddress": "ann@example.com"}]}
EMAILS = {"emails": ["ann@example.com"]}
WEBHOOK = {"endpoint": "https://app.example.com/hooks", "events": ["email.sent"]}
POSTMARK_WEBHOOK = {
    "Url": "https://app.example.com/hooks",
    "HttpAuth": {"Username": "hooks", "Password": "s3cret"},
    "Triggers": {"Bounce": {"Enabled": True}},
}
SETTINGS = "/v3/user/webhooks/event/settings"
EVENT_WEBHOOK = {
    "enabled": True,
    "url": "https://app.example.com/hooks",
    "friendly_name": "Shop",
    "bounce": True,
}
EVENTS_OF_URL = {"url": "https://app.example.com/", "event_types": "clicked"}
POSTMARK_TEMPLATE = {
    "Name": "Receipt",
    "Alias": "receipt",
    "Subject": "Order {{order.id}}",
    "HtmlBody": "<p>Hello {{name}}</p>",
    "TextBody": "{{#each lines}}{{sku}}{{/each}}",
}
RESEND_TEMPLATE = {
    "name": "Bill",
    "subject": "Order {{{ORDER}}}",
    "html": "<p>Hello {{{NAME}}}</p>",
    "text": "Hello {{{NAME}}}",
    "variables": [{"key": "NAME", "type": "string", "fallback_value": "you"}],
}
DYNAMIC_VERSION = {
    "name": "First",
    "subject": "Order {{id}}",
    "html_content": "<p>Hello {{name}}</p>",
    "plain_content": "{{#each lines}}{{sku}}{{/each}}",
}
TOPIC_CHOICE = {"id": NO_ID, "subscription": "opt_out"}
CHANGED_CONTACT = {
    "email": "ann@example.com",
    "first_name": "Ann",
    "last_name": "Lee",
    "unsubscribed": True,
    "properties": {"plan": "free"},
}
RESEND_CONTACT = {**CHANGED_CONTACT, "topics": [TOPIC_CHOICE], "segments": [{"id": NO_ID}]}
BROADCAST = {
    "from": "Acme <a@example.com>",
    "subject": "News",
    "segment_id": NO_ID,
    "reply_to": ["b@example.com"],
    "html": "Hello {{{contact.first_name|you}}}",
    "text": "Hello",
    "preview_text": "In short",
    "name": "May",
}
UNSUBSCRIBE_GROUP = {"name": "News", "description": "What is new", "is_default": False}
CHANGED_VERSION = {
    "template": "<p>Hello {{name}}</p>",
    "comment": "shorter",
    "headers": '{"Subject": "Order {{id}}"}',
    "engine": "handlebars",
    "active": "yes",
}
MAILGUN_VERSION = {**CHANGED_VERSION, "tag": "spring"}
MAILGUN_TEMPLATE = {**MAILGUN_VERSION, "name": "receipt", "description": "A receipt"}
MEMBER = {"address": "ann@example.com", "name": "Ann A", "vars": '{"a": 1}', "subscribed": "yes"}
BODIES: dict[str, Any] = {
    "POST /emails": RESEND,
    "POST /emails/batch": [RESEND],
    "PATCH /emails/{email_id}": {"scheduled_at": "2030-01-01T00:00:00Z"},
    "POST /email": POSTMARK,
    "POST /email/batch": [POSTMARK],
    "POST /email/withTemplate": TEMPLATE,
    "POST /email/batchWithTemplates": {"Messages": [TEMPLATE]},
    "POST /email/bulk": BULK,
    "POST /v3/mail/send": SENDGRID,
    "POST /v3/{domain}/messages": MAILGUN,
    "resend: POST /domains": {"name": "news.example.com", "region": "us-east-1"},
    "postmark: POST /domains": {"Name": "news.example.com", "ReturnPathDomain": ""},
    "PUT /domains/{domain_number}": {"ReturnPathDomain": ""},
    "POST /senders": {**SIGNATURE, "FromEmail": "ann@example.com"},
    "PUT /senders/{sender_number}": SIGNATURE,
    "POST /triggers/tags": TRIGGER,
    "PUT /triggers/tags/{trigger_number}": TRIGGER,
    "POST /triggers/inboundrules": {"Rule": "example.com"},
    "POST /suppressions": {"email": "ann@example.com"},
    "POST /suppressions/batch/add": {"emails": ["ann@example.com"]},
    "POST /suppressions/batch/remove": {"emails": ["ann@example.com"]},
    "resend: POST /webhooks": WEBHOOK,
    "postmark: POST /webhooks": POSTMARK_WEBHOOK,
    "PUT /webhooks/{webhook_number}": POSTMARK_WEBHOOK,
    "postmark: POST /templates": POSTMARK_TEMPLATE,
    "resend: POST /templates": {**RESEND_TEMPLATE, "alias": "bill"},
    "PATCH /templates/{template_id}": RESEND_TEMPLATE,
    "PUT /templates/{template}": POSTMARK_TEMPLATE,
    "PATCH /webhooks/{webhook_id}": {**WEBHOOK, "status": "disabled"},
    "PUT /server": {"Name": "default", "TrackOpens": False, "TrackLinks": "None"},
    "POST /message-streams": {
        "ID": "offers",
        "Name": "Offers",
        "Description": "What is new",
        "MessageStreamType": "Broadcasts",
        "SubscriptionManagementConfiguration": {"UnsubscribeHandlingType": "Postmark"},
    },
    "PATCH /message-streams/{stream}": {"Name": "Offers", "Description": "What is new"},
    "POST /message-streams/{stream}/suppressions": ENTRIES,
    "POST /message-streams/{stream}/suppressions/delete": ENTRIES,
    f"POST {SETTINGS}": EVENT_WEBHOOK,
    f"PATCH {SETTINGS}": EVENT_WEBHOOK,
    f"PATCH {SETTINGS}/{{webhook_id}}": EVENT_WEBHOOK,
    f"PATCH {SETTINGS}/signed/{{webhook_id}}": {"enabled": True},
    "POST /v3/user/webhooks/event/test": {"url": "https://no.example.com/hooks"},
    "POST /v3/templates": {"name": "Order received", "generation": "dynamic"},
    "PATCH /v3/templates/{template_id}": {"name": "Order received"},
    "POST /v3/templates/{template_id}": {"name": "Copy"},
    "POST /v3/templates/{template_id}/versions": DYNAMIC_VERSION,
    "PATCH /v3/templates/{template_id}/versions/{version_id}": DYNAMIC_VERSION,
    "DELETE /v3/suppression/bounces": EMAILS,
    "DELETE /v3/suppression/spam_reports": EMAILS,
    "DELETE /v3/suppression/blocks": EMAILS,
    "DELETE /v3/suppression/invalid_emails": EMAILS,
    "POST /v3/asm/suppressions/global": {"recipient_emails": ["ann@example.com"]},
    "POST /v3/asm/groups/{group_id}/suppressions": {"recipient_emails": ["ann@example.com"]},
    "POST /v3/domains/{domain}/webhooks": {"id": "clicked", "url": "https://app.example.com/"},
    "PUT /v3/domains/{domain}/webhooks/{event}": {"url": "https://app.example.com/"},
    "POST /v4/domains/{domain}/webhooks": EVENTS_OF_URL,
    "PUT /v4/domains/{domain}/webhooks": EVENTS_OF_URL,
    "POST /v3/{domain}/bounces": {"address": "a@example.com", "code": "550", "error": "no"},
    "POST /v3/{domain}/complaints": {"address": "a@example.com"},
    "POST /v3/{domain}/unsubscribes": {"address": "a@example.com", "tag": "*"},
    "POST /broadcasts": BROADCAST,
    **AUTOMATED,
    "POST /contact-properties": {"key": "plan", "type": "string", "fallback_value": "free"},
    "PATCH /contact-properties/{property_id}": {"fallback_value": "free"},
    "PATCH /broadcasts/{broadcast_id}": BROADCAST,
    "POST /broadcasts/{broadcast_id}/send": {"scheduled_at": "in 1 hour"},
    "POST /segments": {"name": "Customers"},
    "POST /audiences": {"name": "Customers"},
    "PATCH /segments/{segment_id}": {"name": "Customers"},
    "POST /contacts": RESEND_CONTACT,
    "POST /audiences/{segment_id}/contacts": RESEND_CONTACT,
    "PATCH /contacts/{contact}": CHANGED_CONTACT,
    "PATCH /audiences/{segment_id}/contacts/{contact}": CHANGED_CONTACT,
    "PATCH /contacts/{contact}/topics": {"topics": [TOPIC_CHOICE]},
    "POST /topics": {
        "name": "News",
        "default_subscription": "opt_in",
        "description": "What is new",
        "visibility": "public",
    },
    "PATCH /topics/{topic_id}": {"name": "News", "description": "What is new"},
    "POST /v3/asm/groups": UNSUBSCRIBE_GROUP,
    "PATCH /v3/asm/groups/{group_id}": UNSUBSCRIBE_GROUP,
    "POST /v3/asm/groups/{group_id}/suppressions/search": {"recipient_emails": ["ann@example.com"]},
    "POST /v3/user/scheduled_sends": {"batch_id": "spring", "status": "pause"},
    "PATCH /v3/user/scheduled_sends/{batch_id}": {"status": "cancel"},
    "POST /templates/validate": {
        "Subject": "Order {{id}}",
        "HtmlBody": "<p>{{name}}</p>",
        "TextBody": "{{#each lines}}{{sku}}{{/each}}",
        "TestRenderModel": {"name": "Ann"},
        "InlineCssForHtmlTestRender": True,
    },
    **OF_DOMAINS,
    "POST /v3/{domain}/templates": MAILGUN_TEMPLATE,
    "POST /v4/templates": MAILGUN_TEMPLATE,
    "PUT /v3/{domain}/templates/{template}": {"description": "A receipt"},
    "PUT /v4/templates/{template}": {"description": "A receipt"},
    "POST /v3/{domain}/templates/{template}/versions": MAILGUN_VERSION,
    "POST /v4/templates/{template}/versions": MAILGUN_VERSION,
    "PUT /v3/{domain}/templates/{template}/versions/{tag}": CHANGED_VERSION,
    "PUT /v4/templates/{template}/versions/{tag}": CHANGED_VERSION,
    "POST /v3/{domain}/bounces/import": {"file": "address,code,error\na@example.com,550,no\n"},
    "POST /v3/{domain}/complaints/import": {"file": "address\na@example.com\n"},
    "POST /v3/{domain}/unsubscribes/import": {"file": "address,tags\na@example.com,*\n"},
    "POST /v3/lists": {"address": "dev@example.com", "name": "Dev", "description": "All of us"},
    "PUT /v3/lists/{list_address}": {"name": "Dev", "access_level": "readonly"},
    "POST /v3/lists/{list_address}/members": MEMBER,
    "POST /v3/lists/{list_address}/members.json": {
        "members": '[{"address": "ann@example.com", "vars": {"age": 26}}]',
        "upsert": "yes",
    },
    "PUT /v3/lists/{list_address}/members/{member}": MEMBER,
    "POST /api-keys": {"name": "Shop", "permission": "sending_access"},
    "PATCH /api-keys/{key_id}": {"name": "Shop"},
    "POST /v3/api_keys": {"name": "Shop", "scopes": ["mail.send"]},
    "PATCH /v3/api_keys/{key_id}": {"name": "Shop"},
    "PUT /v3/api_keys/{key_id}": {"name": "Shop", "scopes": ["mail.send"]},
    "POST /v3/whitelabel/domains": {"domain": "example.com", "custom_dkim_selector": "abc"},
    "POST /v3/{domain}/messages.mime": {"to": "ann@example.com", "message": "Subject: a\r\n\r\nb"},
    "PATCH /domains/{domain_id}": {"open_tracking": False},
    "PATCH /v3/tracking_settings/click": {"enabled": "false"},
    "PATCH /v3/tracking_settings/open": {"enabled": "false"},
    **MARKETING,
}
"""A body of each endpoint that takes one, which names every kind of field."""

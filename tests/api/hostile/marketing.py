"""Bodies of contacts, lists, senders and single sends of SendGrid's API."""

from typing import Any

from tests.api.hostile.test_inputs import NO_ID

SENDER = {
    "nickname": "Orders",
    "from": {"email": "orders@example.com", "name": "The shop"},
    "reply_to": {"email": "help@example.com", "name": "Help"},
    "address": "Storgata 1",
    "city": "Oslo",
}
VERIFIED_SENDER = {
    "nickname": "Orders",
    "from_email": "orders@example.com",
    "from_name": "The shop",
    "reply_to": "help@example.com",
    "address": "Storgata 1",
}
SEGMENT = {"name": "Germans", "query_dsl": '$.language == "de"'}
SINGLE_SEND = {
    "name": "May",
    "categories": ["spring"],
    "send_at": "2035-01-01T00:00:00Z",
    "send_to": {"list_ids": [NO_ID], "all": False},
    "email_config": {
        "subject": "News",
        "html_content": "<p>Hello {{first_name}}</p>",
        "generate_plain_content": True,
        "sender_id": 7,
        "suppression_group_id": 7,
    },
}
_SENDS = "/v3/marketing/singlesends"
MARKETING: dict[str, Any] = {
    "PUT /v3/marketing/contacts": {
        "contacts": [
            {
                "email": "ann@example.com",
                "first_name": "Ann",
                "alternate_emails": ["a@example.com"],
                "city": "Oslo",
                "custom_fields": {"plan": "pro"},
            }
        ]
    },
    "POST /v3/marketing/contacts/batch": {"ids": [NO_ID]},
    "POST /v3/marketing/contacts/search/emails": {"emails": ["ann@example.com"]},
    "POST /v3/marketing/lists": {"name": "News"},
    "PATCH /v3/marketing/lists/{list_id}": {"name": "News"},
    "POST /v3/marketing/contacts/search/identifiers/{identifier_type}": {
        "identifiers": ["ann@example.com"]
    },
    "POST /v3/marketing/field_definitions": {"name": "plan", "field_type": "Text"},
    "POST /v3/marketing/segments/2.0": SEGMENT,
    "PATCH /v3/marketing/segments/2.0/{segment_id}": SEGMENT,
    "POST /v3/marketing/senders": SENDER,
    "PATCH /v3/marketing/senders/{sender_number}": SENDER,
    "POST /v3/senders": SENDER,
    "PATCH /v3/senders/{sender_number}": SENDER,
    "POST /v3/verified_senders": VERIFIED_SENDER,
    "PATCH /v3/verified_senders/{sender_number}": VERIFIED_SENDER,
    "POST /v3/marketing/test/send_email": {
        "template_id": "order-confirmation",
        "from_address": "shop@example.com",
        "emails": ["ann@example.com"],
    },
    f"POST {_SENDS}": SINGLE_SEND,
    f"POST {_SENDS}/search": {"name": "May", "status": ["draft"], "categories": ["spring"]},
    f"POST {_SENDS}/{{broadcast_id}}": {"name": "June"},
    f"PATCH {_SENDS}/{{broadcast_id}}": SINGLE_SEND,
    f"PUT {_SENDS}/{{broadcast_id}}/schedule": {"send_at": "2035-01-01T00:00:00Z"},
}
"""A body of each endpoint that takes one, which names every kind of field."""

"""Bodies of the requests about events and automations of Resend's API."""

from typing import Any

AUTOMATION = {
    "name": "Welcome",
    "status": "disabled",
    "steps": [
        {"key": "start", "type": "trigger", "config": {"event_name": "user.created"}},
        {"key": "wait", "type": "delay", "config": {"duration": "1 day"}},
        {"key": "tips", "type": "send_email", "config": {"template": {"id": "tips"}}},
    ],
    "connections": [{"from": "start", "to": "wait"}, {"from": "wait", "to": "tips"}],
}
AUTOMATED: dict[str, Any] = {
    "POST /events": {"name": "user.created", "schema": {"plan": "string"}},
    "PATCH /events/{event}": {"schema": {"plan": "string"}},
    "POST /events/send": {
        "event": "user.created",
        "email": "ann@example.com",
        "payload": {"plan": "pro"},
    },
    "POST /automations": AUTOMATION,
    "PATCH /automations/{automation_id}": AUTOMATION,
}

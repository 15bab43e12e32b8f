"""The published `sendgrid` library sends a test mail of a template."""

from typing import Any
from uuid import uuid4

import pytest
from python_http_client.exceptions import HTTPError

from tests.clients.sendgrid.test_senders import ALLOWED, SHOP, api, of, read, refused
from tests.clients.sendgrid.test_templates import added, templates, version_of
from tests.clients.serving import Served

__all__ = ["api", "templates"]
TO = ["ann@example.org", "bob@example.org", "Ann@example.org"]


def mails(site: Served) -> list[tuple[Any, ...]]:
    found = site.rows("SELECT id, recipient_email, category FROM mailqueue.email_queue ORDER BY 2")
    return [(row[1], site.email(str(row[0]))["from_email"], row[2]) for row in found]


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    site.rows("DELETE FROM mailqueue.email_queue RETURNING 1")


def test_each_address_gets_a_mail_of_the_template(site: Served, api: Any, templates: Any) -> None:
    made = added(templates)
    version_of(templates, made, subject="Hello {{name}}")
    second = version_of(templates, made, subject="Second", name="Second")
    sender = read(api.senders.post(request_body=SHOP))["id"]
    group = read(api.asm.groups.post(request_body={"name": "Trial", "description": "x"}))["id"]
    send = api.marketing.test.send_email
    body = {"template_id": made["id"], "emails": TO, "sender_id": sender}
    answer = send.post(request_body=body | {"suppression_group_id": group})

    assert answer.status_code == 202
    assert mails(site) == [
        ("ann@example.org", "orders@example.com", f"asm-{group}"),
        ("bob@example.org", "orders@example.com", f"asm-{group}"),
    ]
    emptied_rows = site.rows("DELETE FROM mailqueue.email_queue RETURNING id")
    assert len(emptied_rows) == 2
    own = {"template_id": made["id"], "emails": TO[:1], "from_address": "me@example.com"}
    send.post(request_body=own | {"version_id_override": second["id"]})
    assert [row[:2] for row in mails(site)] == [("ann@example.org", "me@example.com")]


def test_what_is_wrong_is_named_and_nothing_is_sent(site: Served, api: Any, templates: Any) -> None:
    made = added(templates)
    version_of(templates, made)
    whole = {"template_id": made["id"], "emails": TO[:2], "from_address": "me@example.com"}
    for fields, field in (
        ({"template_id": "no-such"}, "template_id"),
        ({"template_id": 7}, "template_id"),
        ({"version_id_override": str(uuid4())}, "version_id_override"),
        ({"version_id_override": "x"}, "version_id_override"),
        ({"emails": []}, "emails"),
        ({"emails": TO * 4}, "emails"),
        ({"emails": [TO[0], "bob"]}, "emails.1"),
        ({"from_address": "me"}, "from_address"),
        ({"from_address": None}, "sender_id"),
        ({"from_address": None, "sender_id": 12}, "sender_id"),
        ({"suppression_group_id": -1}, "suppression_group_id"),
        ({"suppression_group_id": 3}, "suppression_group_id"),
        ({"custom_unsubscribe_url": "https://x.example/"}, "custom_unsubscribe_url"),
        ({"size": 7}, "size"),
    ):
        assert refused(api.marketing.test.send_email.post, whole | fields) == field, fields
    site.rows(ALLOWED, ["shop@example.com"])
    with pytest.raises(HTTPError) as forbidden:
        api.marketing.test.send_email.post(request_body=whole)
    assert forbidden.value.status_code == 403
    with pytest.raises(HTTPError) as strange:
        of(site, site.keys.other).marketing.test.send_email.post(request_body=whole)
    assert strange.value.to_dict["errors"][0]["field"] == "template_id"
    assert mails(site) == []

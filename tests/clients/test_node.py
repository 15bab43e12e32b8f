"""The published Node libraries of Resend and Postmark, unmodified, against our server."""

from datetime import datetime
from typing import Any

import pytest

from tests.clients.node import HERE, run_node
from tests.clients.serving import Served

pytestmark = pytest.mark.node_clients


def test_resends_library_works_as_it_says(site: Served) -> None:
    said: Any = run_node(HERE / "resend.mjs", URL=site.url, KEY=site.keys.live)

    sent = site.email(said["sent"]["data"]["id"])
    assert (sent["reply_to"], sent["headers"]) == ("help@example.com", {"X-Order": "81"})
    assert sent["tags"] == ["category:confirm_email"]
    assert [(one["name"], one["bytes"], one["cid"]) for one in sent["files"]] == [
        ("notes.txt", 5, "notes")
    ]
    assert said["shown"]["data"]["last_event"] == "queued"
    assert said["files"]["data"]["data"][0]["filename"] == "notes.txt"
    put_off = said["scheduled"]["data"]["id"]
    assert said["updated"]["data"] == said["canceled"]["data"] == {"object": "email", "id": put_off}
    assert site.email(put_off)["status"] == "cancelled"
    assert len(said["batch"]["data"]["data"]) == 2
    assert [one["index"] for one in said["permissive"]["data"]["errors"]] == [1]
    first, again, other = said["once"]
    assert first["data"] == again["data"]
    assert other["error"]["name"] == "invalid_idempotent_request"
    assert len(said["listed"]["data"]["data"]) == 2
    assert datetime.fromisoformat(said["listed"]["data"]["data"][0]["created_at"])
    assert (said["refused"]["error"]["statusCode"], said["refused"]["error"]["name"]) == (
        422,
        "validation_error",
    )
    assert said["missing"]["error"]["name"] == "missing_required_field"
    assert said["unknown"]["error"]["name"] == "invalid_api_key"


def test_postmarks_library_works_as_it_says(site: Served) -> None:
    site.add_template("node", subject="Hi {{ name }}", html="<p>Hi</p>")
    site.suppress("gone@example.org")

    said: Any = run_node(HERE / "postmark.mjs", HOST=site.host, KEY=site.keys.live)

    sent = site.email(said["sent"]["MessageID"])
    assert said["sent"]["Message"] == "OK"
    assert (sent["tags"], sent["headers"]) == (["welcome"], {"X-Order": "81"})
    assert said["shown"]["Metadata"] == {"order": "81"}
    assert "Subject: Postmark test" in said["dump"]["Body"]
    assert [one["ErrorCode"] for one in said["batch"]] == [0, 300]
    assert site.email(said["templated"]["MessageID"])["template"]
    assert [one["ErrorCode"] for one in said["templates"]] == [0, 1101]
    assert said["bulk"]["Status"] == "Accepted"
    assert (said["progress"]["Id"], said["progress"]["TotalMessages"]) == (said["bulk"]["Id"], 2)
    assert site.email(said["bulk"]["Id"])["html"] == "<p>Hi Bob</p>"
    assert said["server"]["Name"] == "default"
    assert said["inactive"]["name"] == "InactiveRecipientsError"
    assert said["inactive"]["recipients"] == ["gone@example.org"]
    assert (said["invalid"]["name"], said["invalid"]["code"]) == ("InvalidEmailRequestError", 300)
    assert (said["stream"]["name"], said["stream"]["code"]) == ("ApiInputError", 1235)
    assert (said["unknown"]["name"], said["unknown"]["statusCode"]) == ("InvalidAPIKeyError", 401)
    assert said["tested"]["Message"] == "Test job accepted"

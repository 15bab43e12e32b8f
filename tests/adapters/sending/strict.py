"""Refuses requests with anything that a provider's documentation does not describe."""

import base64
import re
from collections.abc import Callable, Mapping
from email import message_from_bytes
from typing import Any

from tests.adapters.sending.fake import Request

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
# Not the provider's: what every request of ours carries.
OURS = {"host", "user-agent", "accept-encoding", "content-length"}


def fields(document: Any, known: Mapping[str, type | tuple[type, ...]], *needed: str) -> None:
    """Refuse an object with other fields, or without a required one."""
    assert isinstance(document, dict)
    assert set(document) <= set(known), set(document) - set(known)
    assert set(needed) <= set(document), set(needed) - set(document)
    for name, value in document.items():
        assert isinstance(value, known[name]), (name, value)
        assert value not in ("", [], {}), f"{name} is empty"


def headers(request: Request, **known: str) -> None:
    """Refuse a request whose headers differ from these."""
    wanted = {name.replace("_", "-"): value for name, value in known.items()}
    assert {name: request.headers[name] for name in set(request.headers) - OURS} == wanted
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["user-agent"].startswith("mailqueue/")


def is_base64(text: str) -> None:
    assert len(text) % 4 == 0
    assert _BASE64.fullmatch(text)


def is_message(octets: bytes) -> None:
    """Refuse an invalid message: line endings, headers, repeated headers."""
    assert b"\r\n\r\n" in octets
    assert re.search(rb"(?<!\r)\n|\r(?!\n)", octets) is None
    names = [name.lower() for name in message_from_bytes(octets)]
    assert len(set(names)) == len(names)
    assert {"from", "subject", "message-id"} <= set(names)


def ses(request: Request) -> None:
    assert (request.method, request.path) == ("POST", "/v2/email/outbound-emails")
    assert set(request.headers) - OURS == {"authorization", "content-type", "x-amz-date"}
    assert re.fullmatch(r"\d{8}T\d{6}Z", request.headers["x-amz-date"])
    assert re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/[a-z0-9-]+/ses/aws4_request, "
        r"SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}",
        request.headers["authorization"],
    )
    known = {
        "FromEmailAddress": str,
        "FeedbackForwardingEmailAddress": str,
        "Destination": dict,
        "Content": dict,
        "EmailTags": list,
        "ConfigurationSetName": str,
    }
    fields(request.json, known, "FromEmailAddress", "Destination", "Content")
    lists = dict.fromkeys(("ToAddresses", "CcAddresses", "BccAddresses"), list)
    fields(request.json["Destination"], lists)
    fields(request.json["Content"], {"Raw": dict}, "Raw")
    fields(request.json["Content"]["Raw"], {"Data": str}, "Data")
    is_base64(request.json["Content"]["Raw"]["Data"])
    is_message(base64.b64decode(request.json["Content"]["Raw"]["Data"]))
    for tag in request.json["EmailTags"]:
        fields(tag, {"Name": str, "Value": str}, "Name", "Value")
        assert _TAG.fullmatch(tag["Name"])
        assert _TAG.fullmatch(tag["Value"])


def sendgrid(request: Request) -> None:
    assert (request.method, request.path) == ("POST", "/v3/mail/send")
    headers(
        request,
        authorization="Bearer key-hunter2",
        content_type="application/json",
        accept="application/json",
    )
    known = {
        "personalizations": list,
        "from": dict,
        "reply_to": dict,
        "reply_to_list": list,
        "subject": str,
        "content": list,
        "attachments": list,
        "headers": dict,
        "categories": list,
    }
    said = request.json
    fields(said, known, "personalizations", "from", "subject", "content")
    assert not {"reply_to", "reply_to_list"} <= set(said)
    for one in said["personalizations"]:
        fields(one, {"to": list, "cc": list, "bcc": list, "custom_args": dict}, "to")
        assert all(isinstance(value, str) for value in one["custom_args"].values())
        people = [*one["to"], *one.get("cc", []), *one.get("bcc", [])]
        assert len({person["email"] for person in people}) == len(people)
        for person in people:
            fields(person, {"email": str, "name": str}, "email")
    types = [one["type"] for one in said["content"]]
    assert types in (["text/plain"], ["text/html"], ["text/plain", "text/html"])
    for one in said["content"]:
        fields(one, {"type": str, "value": str}, "type", "value")
    file = dict.fromkeys(("content", "filename", "type", "disposition", "content_id"), str)
    for one in said.get("attachments", []):
        fields(one, file, "content", "filename")
        is_base64(one["content"])
        assert (one["disposition"] == "inline") == ("content_id" in one)


def mailgun(request: Request) -> None:
    assert (request.method, request.path) == ("POST", "/v3/mg.example.com/messages.mime")
    boundary = request.headers["content-type"].removeprefix("multipart/form-data; boundary=")
    headers(
        request,
        authorization="Basic YXBpOmtleS1odW50ZXIy",
        content_type=f"multipart/form-data; boundary={boundary}",
        accept="application/json",
    )
    names = [name for name, _ in form_of(request)]
    assert set(names) <= {"to", "o:tag", "v:mailqueue_id", "v:category", "message"}, names
    assert names.count("message") == names.count("v:mailqueue_id") == 1
    assert "to" in names
    is_message(dict(form_of(request))["message"])


def form_of(request: Request) -> list[tuple[str, bytes]]:
    """Parse a form with an independent parser."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    parts = message_from_bytes(
        head + request.body.replace(b"message/rfc822", b"x-raw/x")
    ).get_payload()
    assert isinstance(parts, list)
    read = []
    for part in parts:
        inside = part.get_payload(decode=True)  # type: ignore[union-attr]
        assert isinstance(inside, bytes)
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
        read.append((str(name), inside))
    return read


def postmark(request: Request) -> None:
    assert request.method == "POST"
    assert request.path in ("/email", "/email/batch")
    headers(
        request,
        x_postmark_server_token="key-hunter2",
        content_type="application/json",
        accept="application/json",
    )
    is_batch = request.path == "/email/batch"
    assert isinstance(request.json, list) == is_batch
    texts = ("From", "To", "Cc", "Bcc", "Subject", "HtmlBody", "TextBody", "ReplyTo", "Tag")
    known: dict[str, type | tuple[type, ...]] = dict.fromkeys((*texts, "MessageStream"), str)
    known |= {"Headers": list, "Metadata": dict, "Attachments": list}
    for each in request.json if is_batch else [request.json]:
        fields(each, known, "From", "To", "Subject")
        assert {"HtmlBody", "TextBody"} & set(each)
        for one in each["Headers"]:
            fields(one, {"Name": str, "Value": str}, "Name", "Value")
        for name, value in each["Metadata"].items():
            assert len(name) <= 20
            assert isinstance(value, str)
            assert len(value) <= 80
        for one in each.get("Attachments", []):
            file = dict.fromkeys(("Name", "Content", "ContentType", "ContentID"), str)
            fields(one, file, "Name", "Content", "ContentType")
            is_base64(one["Content"])
            assert one.get("ContentID", "cid:x").startswith("cid:")


def resend(request: Request) -> None:
    assert request.method == "POST"
    assert request.path in ("/emails", "/emails/batch")
    is_batch = request.path == "/emails/batch"
    assert isinstance(request.json, list) == is_batch
    key = request.headers["idempotency-key"]
    assert 1 <= len(key) <= 256
    more = {"x-batch-validation": "permissive"} if is_batch else {}
    headers(
        request,
        authorization="Bearer key-hunter2",
        content_type="application/json",
        idempotency_key=key,
        **more,
    )
    lists = dict.fromkeys(("to", "cc", "bcc", "reply_to", "attachments", "tags"), list)
    texts = dict.fromkeys(("from", "subject", "html", "text"), str)
    for each in request.json if is_batch else [request.json]:
        fields(each, {**lists, **texts, "headers": dict}, "from", "to", "subject")
        assert all(isinstance(value, str) for value in each.get("headers", {}).values())
        for one in each["tags"]:
            fields(one, {"name": str, "value": str}, "name", "value")
            assert _TAG.fullmatch(one["name"])
            assert _TAG.fullmatch(one["value"])
        assert not (is_batch and "attachments" in each)
        for one in each.get("attachments", []):
            file = dict.fromkeys(("filename", "content", "content_type", "content_id"), str)
            fields(one, file, "filename", "content")
            is_base64(one["content"])


def smtp2go(request: Request) -> None:
    assert (request.method, request.path) == ("POST", "/v3/email/send")
    headers(
        request,
        x_smtp2go_api_key="key-hunter2",
        content_type="application/json",
        accept="application/json",
    )
    lists = ("to", "cc", "bcc", "custom_headers", "attachments", "inlines")
    texts = ("sender", "subject", "text_body", "html_body")
    fields(
        request.json,
        {**dict.fromkeys(lists, list), **dict.fromkeys(texts, str)},
        "sender",
        "to",
        "subject",
    )
    for one in request.json["custom_headers"]:
        fields(one, {"header": str, "value": str}, "header", "value")
    for one in [*request.json.get("attachments", []), *request.json.get("inlines", [])]:
        file = dict.fromkeys(("filename", "fileblob", "mimetype"), str)
        fields(one, file, "filename", "fileblob", "mimetype")
        is_base64(one["fileblob"])


def gmail(request: Request) -> None:
    assert request.method == "POST"
    path = "/gmail/v1/users/me/messages/send"
    if request.path == f"/upload{path}?uploadType=media":
        headers(request, authorization="Bearer key-hunter2", content_type="message/rfc822")
        is_message(request.body)
        return
    assert request.path == path
    headers(request, authorization="Bearer key-hunter2", content_type="application/json")
    fields(request.json, {"raw": str}, "raw")
    assert re.fullmatch(r"[A-Za-z0-9_-]+={0,2}", request.json["raw"])
    assert len(request.json["raw"]) % 4 == 0
    is_message(base64.urlsafe_b64decode(request.json["raw"]))


CHECK_BY_PROVIDER: Mapping[str, Callable[[Request], None]] = {
    "ses": ses,
    "sendgrid": sendgrid,
    "mailgun": mailgun,
    "postmark": postmark,
    "resend": resend,
    "smtp2go": smtp2go,
    "gmail": gmail,
}

"""Extract the bounce message from an HTTP request: its raw bytes, or JSON of a parsed message.
Pure.

A message comes as it is (message/rfc822), or in JSON as `raw` or `raw_base64`, or in parts:
`headers` (an object, or a list of name and value), `text`, `html` and `parts`, each with its
`content_type` and `content` or `content_base64`. `sender` and `recipient` are the envelope.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import orjson

from mailqueue.ports.inbound import BadEvent, InboundRequest

SENDER, RECIPIENT = "sender", "recipient"
"""Query parameters that hold the envelope of a message; an empty sender is the null sender."""
MAX_PARTS = 50
MAX_HEADERS = 500
MAX_RECIPIENTS = 100
_NAME = re.compile(r"[!-9;-~]{1,200}")
_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[^\r\n]{0,300})?")
_BOUNDARY = "=_parts-of-a-message-that-was-taken-apart"


def message_of(request: InboundRequest) -> InboundRequest | BadEvent:
    """Return the request with the message as its body and the envelope in its query."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return request
    try:
        said = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return BadEvent("the body is not valid JSON")
    if not isinstance(said, dict):
        return BadEvent("the body is not a JSON object")
    raw = _raw(said)
    if raw is None:
        return BadEvent("the body has none of the fields raw, raw_base64 and headers")
    envelope = dict(request.query)
    for name in (SENDER, RECIPIENT):
        found = said.get(name)
        if isinstance(found, str):
            envelope[name] = found[:4_000]
        elif isinstance(found, list):
            texts = [one for one in found[:MAX_RECIPIENTS] if isinstance(one, str)]
            envelope[name] = " ".join(texts)[:4_000]
    return replace(request, body=raw, query=envelope)


def _raw(fields: Mapping[str, Any]) -> bytes | None:
    if isinstance(fields.get("raw"), str):
        return str(fields["raw"]).encode("utf-8", "replace")
    if isinstance(fields.get("raw_base64"), str):
        return _decoded(fields["raw_base64"])
    headers = list(_headers(fields.get("headers")))
    if not headers:
        return None
    return _composed(headers, list(_parts(fields)))


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text)
    except (ValueError, binascii.Error):
        return None


def _headers(value: Any) -> Iterator[tuple[str, str]]:
    pairs: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        for key, one in value.items():
            pairs += [(key, each) for each in (one if isinstance(one, list) else [one])]
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, dict):
                pairs.append((one.get("name"), one.get("value")))
            elif isinstance(one, list) and len(one) == 2:
                pairs.append((one[0], one[1]))
    for name, text in pairs[:MAX_HEADERS]:
        if isinstance(name, str) and isinstance(text, str) and _NAME.fullmatch(name):
            yield name, " ".join(text.split())


def _parts(fields: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    for name, kind in (("text", "text/plain"), ("html", "text/html")):
        if isinstance(fields.get(name), str):
            yield f"{kind}; charset=utf-8", str(fields[name]).encode("utf-8", "replace")
    parts = fields.get("parts")
    for one in parts[:MAX_PARTS] if isinstance(parts, list) else []:
        if not isinstance(one, dict):
            continue
        declared = one.get("content_type")
        content: bytes | None = None
        if isinstance(one.get("content"), str):
            content = str(one["content"]).encode("utf-8", "replace")
        elif isinstance(one.get("content_base64"), str):
            content = _decoded(one["content_base64"])
        if isinstance(declared, str) and _TYPE.fullmatch(declared) and content is not None:
            yield declared, content


def _composed(headers: list[tuple[str, str]], parts: list[tuple[str, bytes]]) -> bytes:
    """Build a message from its headers and parts."""
    said = {name.lower(): text for name, text in headers}
    report = re.search(r"report-type=\"?([\w-]{1,60})", said.get("content-type", ""))
    dropped = {"content-type", "content-transfer-encoding", "mime-version"}
    lines = [f"{name}: {text}" for name, text in headers if name.lower() not in dropped]
    kind = f"multipart/report; report-type={report[1]}" if report else "multipart/mixed"
    lines += ["MIME-Version: 1.0", f'Content-Type: {kind}; boundary="{_BOUNDARY}"', "", ""]
    pieces = ["\n".join(lines).encode("utf-8", "replace")]
    for name, content in parts:
        encoded = base64.encodebytes(content)
        head = f"--{_BOUNDARY}\nContent-Type: {name}\nContent-Transfer-Encoding: base64\n\n"
        pieces += [head.encode("utf-8", "replace"), encoded]
    pieces.append(f"--{_BOUNDARY}--\n".encode())
    return b"".join(pieces)

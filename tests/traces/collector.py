"""A collector on loopback that reads what it gets as the published messages of OTLP."""

import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.traces.exporting import TraceExporter, TraceTarget
from tests.adapters.sending.fake import Fake, FakeReply, Request, fake

IDS = ("traceId", "spanId", "parentSpanId")
HEADERS = (("X-Collector-Key", "a secret"),)
TAKEN = FakeReply(200, b"{}")


def parsed(request: Request) -> ExportTraceServiceRequest:
    """Return a request; a field that OTLP does not have is an error.

    The mapping of protobuf to JSON has bytes in base64, that of OTLP ids in hexadecimal digits.
    """
    document = request.json
    for one in document["resourceSpans"]:
        for scoped in one["scopeSpans"]:
            for span in scoped["spans"]:
                for name in IDS:
                    if name in span:
                        octets = bytes.fromhex(span[name])
                        span[name] = base64.b64encode(octets).decode()
    found = ExportTraceServiceRequest()
    json_format.ParseDict(document, found)
    return found


def spans_in(requests: Sequence[Request]) -> list[Span]:
    """Return the spans of requests, in order."""
    return [
        span
        for request in requests
        for one in parsed(request).resource_spans
        for scoped in one.scope_spans
        for span in scoped.spans
    ]


def facts(span: Span) -> dict[str, Any]:
    """Return the attributes of a span."""
    return {
        one.key: getattr(one.value, one.value.WhichOneof("value") or "") for one in span.attributes
    }


@asynccontextmanager
async def collecting(
    database: DatabaseSettings,
    replies: Sequence[FakeReply] = (TAKEN,),
    *,
    ratio: float = 0.0,
    **options: Any,
) -> AsyncIterator[tuple[Fake, TraceExporter]]:
    """Yield a collector and an exporter that has begun to export to it."""

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with connect(database) as conn:
            yield conn

    async with fake(replies) as server:
        url = f"http://127.0.0.1:{server.port}/v1/traces"
        poster = HttpPoster(NetworkPolicy(allow_private=True))
        exporter = TraceExporter(lend, poster, TraceTarget(url, HEADERS, ratio), **options)
        await exporter.turn()  # mail from now on is exported
        try:
            yield server, exporter
        finally:
            poster.close()

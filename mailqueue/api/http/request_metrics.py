"""Counts requests by endpoint, method and status."""

from prometheus_client import Histogram
from starlette.types import Scope

from mailqueue.telemetry.metrics.exposition import REGISTRY

ROUTE = "mailqueue.route"
"""Key in the request scope: the path of the endpoint, with the names of its variables."""
OTHER = "other"
"""Route of requests without an endpoint of the table: pages, links of mail, unknown paths."""
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_DURATION = Histogram(
    "mailqueue_http_request_duration_seconds",
    "Duration of HTTP requests.",
    ("route", "method", "status"),
    buckets=(0.005, 0.025, 0.1, 0.5, 2.5, 10.0),
    registry=REGISTRY,
)


def count_request(scope: Scope, status: int, seconds: float) -> None:
    """Count an answered request; status 0: it was not answered."""
    method = scope["method"] if scope["method"] in _METHODS else OTHER
    _DURATION.labels(scope.get(ROUTE, OTHER), method, status).observe(seconds)

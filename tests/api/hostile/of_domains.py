"""Bodies of the requests about domains, keys and counts of Mailgun's API."""

from typing import Any

OF_DOMAINS: dict[str, Any] = {
    "POST /v1/analytics/metrics": {
        "start": "Mon, 01 Jun 2026 00:00:00 +0000",
        "end": "Tue, 02 Jun 2026 00:00:00 +0000",
        "resolution": "day",
        "duration": "1d",
        "dimensions": ["time", "tag"],
        "metrics": ["accepted_count"],
        "filter": {"AND": [{"attribute": "tag", "comparator": "=", "values": [{"value": "news"}]}]},
        "pagination": {"sort": "time:asc", "skip": 0, "limit": 10},
    },
    "POST /v1/analytics/logs": {
        "start": "Mon, 01 Jun 2026 00:00:00 +0000",
        "end": "Tue, 02 Jun 2026 00:00:00 +0000",
        "events": ["opened"],
        "filter": {
            "AND": [
                {
                    "attribute": "recipient",
                    "comparator": "=",
                    "values": [{"value": "a@example.com"}],
                }
            ]
        },
        "pagination": {"sort": "timestamp:asc", "limit": 10},
    },
    "POST /v1/analytics/tags": {
        "tag": "news",
        "include_metrics": True,
        "pagination": {"sort": "lastseen:desc", "skip": 0, "limit": 10},
    },
    "PUT /v1/analytics/tags": {"tag": "news", "description": "Newsletters"},
    "PUT /v3/{domain}/tags/{tag}": {"description": "Newsletters"},
    "PUT /v3/{domain}/tag": {"description": "Newsletters"},
    "POST /v3/domains/{domain}/credentials": {"login": "alice@example.com", "password": "12345"},
    "PUT /v3/domains/{domain}/credentials/{login}": {"password": "12345"},
    "POST /v1/keys": {"role": "sending", "description": "Shop", "expiration": "3600"},
    "POST /v3/domains": {"name": "news.example.com"},
    "POST /v1/dkim/keys": {"signing_domain": "news.example.com", "selector": "mail", "pem": "x"},
    "PUT /v3/domains/{domain}": {"name": "example.com", "spam_action": "disabled"},
    "PUT /v3/domains/{domain}/dkim_authority": {"self": "true"},
    "PUT /v3/domains/{domain}/dkim_selector": {"dkim_selector": "mail"},
    "PUT /v3/domains/{domain}/web_prefix": {"web_prefix": "email"},
    "POST /v4/domains": {"name": "news.example.com"},
    "PUT /v3/domains/{domain}/tracking/open": {"active": "no"},
    "PUT /v3/domains/{domain}/tracking/click": {"active": "no"},
    "PUT /v3/domains/{domain}/tracking/unsubscribe": {"active": "no", "html_footer": "<p>"},
}

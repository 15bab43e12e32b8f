"""Network policies of the manifests: who may connect to pods, and what pods may connect to."""

from collections.abc import Iterator
from typing import Any

METRICS_PORT = 9464
DATABASE = "192.0.2.10/32"
"""Network of PostgreSQL."""
DATABASE_PORT = 5432
SMTP_PORTS = (25, 465, 587, 2525)
HTTPS_PORTS = (443,)
IMAP_PORTS = (143, 993)
BROKER_PORTS = (5671, 5672)
COLLECTOR_PORTS = (4318,)
OURS = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
)
"""Networks that are not the internet: other pods, and metadata of hosts, but no provider."""
ANY_PORT: tuple[int, ...] = ()

INTERNET_BY_SERVICE: dict[str, tuple[int, ...] | None] = {
    # Both try out sender accounts at their servers, and ask providers of OpenID Connect.
    "api": (*SMTP_PORTS, *HTTPS_PORTS),
    "console": (*SMTP_PORTS, *HTTPS_PORTS),
    "send": (*SMTP_PORTS, *HTTPS_PORTS),
    # The owners of webhooks and inboxes choose ports. mailqueue checks each address once more.
    "webhooks": ANY_PORT,
    "idle": (*IMAP_PORTS, *HTTPS_PORTS),
    # Certificates of providers by which their requests are verified, and files in buckets.
    "inbound": HTTPS_PORTS,
    "submission": HTTPS_PORTS,
    "upkeep": HTTPS_PORTS,
    # A collector of a provider; one in the cluster is beside Prometheus.
    "traces": HTTPS_PORTS,
    "migrate": None,
    "bounces": None,
    "rabbitmq": None,
}
"""Ports in the internet that pods connect to, by service; None: no pod of it connects there."""
TO_BROKER = ("rabbitmq", "webhooks")
"""Services that connect to RabbitMQ, in the namespace of that name."""
TO_COLLECTOR = ("traces",)
"""Services that connect to a collector of OpenTelemetry, in the namespace `monitoring`."""

Spec = dict[str, Any]


def namespace(name: str) -> Spec:
    """Return the selector of a namespace by its name."""
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def listed(ports: tuple[int, ...], protocol: str = "TCP") -> list[Spec]:
    """Return ports as policies list them."""
    return [{"protocol": protocol, "port": port} for port in ports]


def ingress_policies(
    ports: dict[str, dict[str, int]], proxied: tuple[str, ...], pods_of: Any
) -> Iterator[tuple[str, Spec]]:
    """Yield the name and the spec of each policy about who may connect.

    `ports` are those of listeners by service; `proxied` are behind the ingress, others open.
    """
    rules: dict[str, tuple[Spec, list[Spec], tuple[int, ...]]] = {
        "metrics": (
            {"matchLabels": {"app.kubernetes.io/name": "mailqueue"}},
            [namespace("monitoring")],
            (METRICS_PORT,),
        )
    }
    for name, found in ports.items():
        sources = [namespace("ingress-nginx")]
        if name not in proxied:
            sources = [{"ipBlock": {"cidr": "0.0.0.0/0"}}]
        rules[name] = ({"matchLabels": pods_of(name)}, sources, tuple(found.values()))
    for name, (pods, sources, allowed) in sorted(rules.items()):
        rule = {"from": sources, "ports": listed(allowed)}
        spec = {"podSelector": pods, "policyTypes": ["Ingress"], "ingress": [rule]}
        yield f"mailqueue-to-{name}", spec


def egress_policies(services: tuple[str, ...], pods_of: Any) -> Iterator[tuple[str, Spec]]:
    """Yield the name and the spec of each policy about what pods may connect to.

    Name servers and the database for all of mailqueue; the rest by service.
    """
    names = {
        "to": [
            {**namespace("kube-system"), "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}
        ],
        "ports": [*listed((53,), "UDP"), *listed((53,))],
    }
    database = {"to": [{"ipBlock": {"cidr": DATABASE}}], "ports": listed((DATABASE_PORT,))}
    yield (
        "mailqueue-from-all",
        {
            "podSelector": {"matchLabels": {"app.kubernetes.io/name": "mailqueue"}},
            "policyTypes": ["Egress"],
            "egress": [names, database],
        },
    )
    for name in services:
        rules: list[Spec] = []
        ports = INTERNET_BY_SERVICE[name]
        if ports is not None:
            internet: Spec = {"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": list(OURS)}}]}
            rules.append(internet | ({"ports": listed(ports)} if ports else {}))
        if name in TO_BROKER:
            rules.append({"to": [namespace("rabbitmq")], "ports": listed(BROKER_PORTS)})
        if name in TO_COLLECTOR:
            rules.append({"to": [namespace("monitoring")], "ports": listed(COLLECTOR_PORTS)})
        if rules:
            spec = {
                "podSelector": {"matchLabels": pods_of(name)},
                "policyTypes": ["Egress"],
                "egress": rules,
            }
            yield f"mailqueue-from-{name}", spec

"""Writes mailqueue.yml, manifests for Kubernetes: `python deploy/kubernetes/make_manifests.py`.

No cluster runs where this project is tested. The commands, logins and ports are those of SERVICES;
fields and types follow the published schema of Kubernetes 1.32.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from network_policies import (  # noqa: E402
    DATABASE,
    METRICS_PORT,
    egress_policies,
    ingress_policies,
)

from mailqueue.core.services.model import Service  # noqa: E402
from mailqueue.core.services.registry import SERVICES  # noqa: E402

FILE = Path(__file__).with_name("mailqueue.yml")
NAMESPACE = "mailqueue"
IMAGE = "registry.example.com/mailqueue:0.1.0"
PORTS = {
    "api": {"api": 8025, "links": 8026},
    "console": {"console": 8081},
    "submission": {"submission": 2587},
    "bounces": {"bounces": 2526},
}
"""Ports of listeners, by the name of the service and of the port."""
PROBED = ("api", "console")
"""Services whose first port answers /readyz; the others take connections there."""
SCALED = ("api", "send")
NAMES = {"api": "api.example.com", "links": "links.example.com", "console": "console.example.com"}
_SECRET = f"kubectl --namespace {NAMESPACE} create secret"
HEAD = f"""\
# Not run: no cluster is where this project is tested. Made by make_manifests.py from the services
# of mailqueue, compared with them by tests, and valid by the published schema of Kubernetes 1.32.
# PostgreSQL is outside; its logins are made by docs/samples/compose/create_logins.sh.
#
# Secrets come first, each from a file:
#   kubectl create namespace {NAMESPACE}
#   {_SECRET} generic mailqueue-master-key --from-file=master.key
#   {_SECRET} generic mailqueue-api --from-file=password=api.password
#   {_SECRET} generic mailqueue-worker --from-file=password=worker.password
#   {_SECRET} generic mailqueue-migrate --from-file=password=migrate.password
#   {_SECRET} tls mailqueue-submission --cert=fullchain.pem --key=privkey.pem
#   {_SECRET} tls mailqueue-tls --cert=fullchain.pem --key=privkey.pem
# Change names, image and database, its network {DATABASE} too, and apply it. For an upgrade delete
# the job first. Pods connect to name servers, the database and what their service needs alone:
# network_policies.py has the ports.
"""


def manifests() -> list[dict[str, Any]]:
    """Return the documents, in the order in which they are applied."""
    services = [one for one in SERVICES if one.container is not None or one.unit is not None]
    return [
        _named("v1", "Namespace", NAMESPACE, {}),
        _named("v1", "ConfigMap", "mailqueue", {"data": _settings()}),
        _job(),
        *(_deployment(one) for one in services),
        *(found for one in services for found in _around(one)),
        *_policies(),
        _ingress(),
    ]


def _settings() -> dict[str, str]:
    return {
        "MAILQUEUE_API_NAMES": NAMES["api"],
        "MAILQUEUE_PUBLIC_URL": f"https://{NAMES['links']}",
        "MAILQUEUE_CONSOLE_URL": f"https://{NAMES['console']}",
        "MAILQUEUE_ARCHIVE": "s3://mailqueue-archive/files",
        "MAILQUEUE_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_PUBLIC_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_CONSOLE_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_SUBMISSION_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_BOUNCES_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_METRICS_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_METRICS_PORT": str(METRICS_PORT),
        "MAILQUEUE_PUBLIC_PORT": str(PORTS["api"]["links"]),
        "MAILQUEUE_NO_TRAP": "true",
        # Networks of pods, from which the ingress connects: its header with the client is believed.
        "FORWARDED_ALLOW_IPS": "10.0.0.0/8",
        # Where the service rabbitmq runs:
        "MAILQUEUE_RABBITMQ_URL": "",
        "MAILQUEUE_RABBITMQ_QUEUES": "",
        # Where the service traces runs:
        "MAILQUEUE_TRACES_URL": "",
    }


def _named(version: str, kind: str, name: str, rest: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"app.kubernetes.io/part-of": "mailqueue"}}
    if kind != "Namespace":
        metadata["namespace"] = NAMESPACE
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def _labels(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": "mailqueue", "app.kubernetes.io/component": name}


def _pod(name: str, words: tuple[str, ...], login: str, **container: Any) -> dict[str, Any]:
    secret = {"defaultMode": 0o440}
    volumes = [
        {"name": "master-key", "secret": {"secretName": "mailqueue-master-key", **secret}},
        {"name": "password", "secret": {"secretName": f"mailqueue-{login}", **secret}},
        {"name": "data", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
    ]
    mounts = [
        {"name": "master-key", "mountPath": "/run/secrets/master-key", "readOnly": True},
        {"name": "password", "mountPath": "/run/secrets/database", "readOnly": True},
        {"name": "data", "mountPath": "/var/lib/mailqueue"},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108
    ]
    url = f"postgresql://{login}@db.example.com/mailqueue?sslmode=verify-full&sslrootcert=system"
    variables = {
        "MAILQUEUE_DATABASE_URL": f"{url}&pool_max=10",
        "MAILQUEUE_DATABASE_PASSWORD_FILE": "/run/secrets/database/password",
        "MAILQUEUE_MASTER_KEY_FILE": "/run/secrets/master-key/master.key",
    }
    if name == "submission":
        volumes.append({"name": "tls", "secret": {"secretName": "mailqueue-submission", **secret}})
        mounts.append({"name": "tls", "mountPath": "/run/secrets/tls", "readOnly": True})
        variables["MAILQUEUE_SUBMISSION_CERTIFICATE"] = "/run/secrets/tls/tls.crt"
        variables["MAILQUEUE_SUBMISSION_CERTIFICATE_KEY"] = "/run/secrets/tls/tls.key"
    return {
        "metadata": {"labels": _labels(name)},
        "spec": {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 60,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 10001,
                "runAsGroup": 10001,
                "fsGroup": 10001,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": name,
                    "image": IMAGE,
                    "args": list(words),
                    "envFrom": [{"configMapRef": {"name": "mailqueue"}}],
                    "env": [{"name": key, "value": value} for key, value in variables.items()],
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                    "resources": {
                        "requests": {"cpu": "250m", "memory": "512Mi"},
                        "limits": {"memory": "2Gi"},
                    },
                    "volumeMounts": mounts,
                    **container,
                }
            ],
            "volumes": volumes,
        },
    }


def _job() -> dict[str, Any]:
    pod = _pod("migrate", ("migrate",), "migrate")
    pod["spec"]["restartPolicy"] = "Never"
    return _named(
        "batch/v1", "Job", "mailqueue-migrate", {"spec": {"backoffLimit": 5, "template": pod}}
    )


def _deployment(one: Service) -> dict[str, Any]:
    ports = PORTS.get(one.name, {})
    listed = [*ports.items(), ("metrics", METRICS_PORT)]
    probe: dict[str, Any] = {
        "ports": [{"name": name, "containerPort": port} for name, port in listed],
        "livenessProbe": {
            "httpGet": {"path": "/livez", "port": "metrics"},
            "periodSeconds": 10,
            "failureThreshold": 6,
        },
    }
    if ports:
        first = next(iter(ports))
        asked = {"httpGet": {"path": "/readyz", "port": first}}
        connected = {"tcpSocket": {"port": first}}
        ready = asked if one.name in PROBED else connected
        probe["readinessProbe"] = {**ready, "periodSeconds": 5}
    spec = {
        "replicas": replicas_of(one),
        "selector": {"matchLabels": _labels(one.name)},
        "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "template": _pod(one.name, one.command, one.login, **probe),
    }
    if one.name in SCALED:
        del spec["replicas"]
    return _named("apps/v1", "Deployment", f"mailqueue-{one.name}", {"spec": spec})


def replicas_of(one: Service) -> int:
    """Return how many processes of a service run: none where variables are missing."""
    if one.needs:
        return 0
    return 1 if one.name == "upkeep" else 2


def _around(one: Service) -> Iterator[dict[str, Any]]:
    name = f"mailqueue-{one.name}"
    if one.name in PORTS:
        ports = [
            {"name": each, "port": at, "targetPort": each} for each, at in PORTS[one.name].items()
        ]
        yield _named(
            "v1", "Service", name, {"spec": {"selector": _labels(one.name), "ports": ports}}
        )
    if replicas_of(one) > 1:
        budget = {"maxUnavailable": 1, "selector": {"matchLabels": _labels(one.name)}}
        yield _named("policy/v1", "PodDisruptionBudget", name, {"spec": budget})
    if one.name in SCALED:
        cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}
        spec = {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 2,
            "maxReplicas": 10,
            "metrics": [{"type": "Resource", "resource": cpu}],
        }
        yield _named("autoscaling/v2", "HorizontalPodAutoscaler", name, {"spec": spec})


def _policies() -> Iterator[dict[str, Any]]:
    policy = "networking.k8s.io/v1", "NetworkPolicy"
    nothing = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    yield _named(*policy, "mailqueue-none", {"spec": nothing})
    names = ("migrate", *(one.name for one in SERVICES if one.container or one.unit))
    for name, spec in (
        *ingress_policies(PORTS, PROBED, _labels),
        *egress_policies(names, _labels),
    ):
        yield _named(*policy, name, {"spec": spec})


def _ingress() -> dict[str, Any]:
    owners = {port: service for service, ports in PORTS.items() for port in ports}
    rules = [
        {
            "host": host,
            "http": {
                "paths": [
                    {
                        "path": "/",
                        "pathType": "Prefix",
                        "backend": {
                            "service": {"name": f"mailqueue-{owners[port]}", "port": {"name": port}}
                        },
                    }
                ]
            },
        }
        for port, host in NAMES.items()
    ]
    spec = {
        "ingressClassName": "nginx",
        "tls": [{"hosts": list(NAMES.values()), "secretName": "mailqueue-tls"}],
        "rules": rules,
    }
    document = _named("networking.k8s.io/v1", "Ingress", "mailqueue", {"spec": spec})
    document["metadata"]["annotations"] = {
        # Paths and queries have tokens of links.
        "nginx.ingress.kubernetes.io/enable-access-log": "false",
        "nginx.ingress.kubernetes.io/proxy-body-size": "66m",
    }
    return document


def text() -> str:
    """Return the file."""
    documents = [yaml.safe_dump(each, sort_keys=False, width=120) for each in manifests()]
    return HEAD + "".join(f"---\n{each}" for each in documents)


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")

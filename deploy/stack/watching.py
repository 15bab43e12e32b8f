"""The services of the stack that keep metrics, logs and traces."""

from collections.abc import Callable
from typing import Any

IMAGES = {
    "prometheus": "prom/prometheus:v3.5.0",
    "alertmanager": "prom/alertmanager:v0.28.1",
    "node-exporter": "prom/node-exporter:v1.9.1",
    "grafana": "grafana/grafana:12.1.0",
    "loki": "grafana/loki:3.5.3",
    "alloy": "grafana/alloy:v1.10.0",
    "tempo": "grafana/tempo:2.8.2",
}


def watching(common: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what keeps metrics, logs and traces; their pages are on this host alone."""
    mounted = {
        "prometheus": [
            "./stack/prometheus.yml:/etc/prometheus/prometheus.yml:ro",
            "./prometheus/alerts.yml:/etc/prometheus/alerts.yml:ro",
            "prometheus:/prometheus",
        ],
        "alertmanager": ["./stack/alertmanager.yml:/etc/alertmanager/alertmanager.yml:ro"],
        "node-exporter": ["metrics:/metrics:ro"],
        "grafana": [
            "./stack/grafana/sources.yml:/etc/grafana/provisioning/datasources/mailqueue.yml:ro",
            "./stack/grafana/folders.yml:/etc/grafana/provisioning/dashboards/mailqueue.yml:ro",
            "./grafana/dashboard.json:/var/lib/dashboards/mailqueue.json:ro",
            "grafana:/var/lib/grafana",
        ],
        "loki": ["./stack/loki.yml:/etc/loki/local-config.yaml:ro", "loki:/loki"],
        "alloy": [
            "./stack/logs.alloy:/etc/alloy/config.alloy:ro",
            "/var/lib/docker/containers:/var/lib/docker/containers:ro",
            "alloy:/var/lib/alloy/data",
        ],
        "tempo": ["./stack/tempo.yml:/etc/tempo.yaml:ro", "tempo:/var/tempo"],
    }
    commands = {
        "prometheus": [
            "--config.file=/etc/prometheus/prometheus.yml",
            "--storage.tsdb.path=/prometheus",
            "--storage.tsdb.retention.time=90d",
        ],
        "node-exporter": [
            "--collector.disable-defaults",
            "--collector.textfile",
            "--collector.textfile.directory=/metrics",
        ],
        "alloy": ["run", "--storage.path=/var/lib/alloy/data", "/etc/alloy/config.alloy"],
        "tempo": ["-config.file=/etc/tempo.yaml"],
    }
    found = {
        name: common() | {"image": IMAGES[name], "volumes": volumes}
        for name, volumes in mounted.items()
    }
    for name, words in commands.items():
        found[name]["command"] = words
    found["grafana"] |= {
        "ports": ["127.0.0.1:3000:3000"],
        "secrets": ["grafana_password"],
        "environment": {"GF_SECURITY_ADMIN_PASSWORD__FILE": "/run/secrets/grafana_password"},
    }
    found["grafana"]["group_add"] = ["10001"]  # that of the files of secrets
    found["node-exporter"]["depends_on"] = ["backups"]  # whose image owns the folder of metrics
    found["prometheus"]["ports"] = ["127.0.0.1:9090:9090"]
    found["alloy"]["user"] = "root"  # the log files of containers are readable by root alone
    return found

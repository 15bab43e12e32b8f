"""Writes compose.prod.yml, Caddyfile and prometheus.yml: `python deploy/stack/make_compose.py`.

No container engine runs where this project is tested. The commands, logins and ports are those of
SERVICES; the document follows the published schema of Compose.
"""

import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from proxy import CADDY_IMAGE, SITES, caddyfile  # noqa: E402
from watching import watching  # noqa: E402

from mailqueue.core.services.model import Service  # noqa: E402
from mailqueue.core.services.registry import SERVICES  # noqa: E402

FILE = ROOT / "deploy" / "compose.prod.yml"
CADDYFILE = Path(__file__).with_name("Caddyfile")
PROMETHEUS = Path(__file__).with_name("prometheus.yml")
METRICS_PORT = 9464
PROXIED = "172.30.25.0/24"
"""Network of the proxy and what it asks: mailqueue believes the address of clients from there."""
PUBLISHED = {"submission": ["587:2587"], "bounces": ["25:2526"]}
NAMED_HERE = {"traces_url": "http://tempo:4318/v1/traces"}
"""Variables that a service needs and that this stack has a value for."""
LOGINS = ("migrate", "api", "worker")
SECRETS = {
    "master_key": "master.key",
    "postgres_password": "postgres.password",
    **{f"{login}_password": f"{login}.password" for login in LOGINS},
    "submission_certificate": "submission.crt",
    "submission_key": "submission.key",
    "backup_passphrase": "pgbackrest.conf",
    "grafana_password": "grafana.password",
}
"""Files of the folder of secrets, by the name of the secret."""
HEAD = """\
# Not run: no container engine is where this project is tested. Made by stack/make_compose.py from
# the services of mailqueue, compared with them by tests, and valid by Compose's schema.
#
# One host with everything: TLS, mailqueue, PostgreSQL with backups, metrics, logs and traces.
#   cd deploy && printf 'DOMAIN=example.com\\n' >.env
# Secrets are files of ./secrets (another folder: SECRETS in .env), which belong to the group 10001:
#   install --directory --mode=750 --group=10001 secrets
#   for name in postgres migrate api worker grafana; do
#       openssl rand -hex 24 >secrets/$name.password
#   done
#   openssl rand -base64 32 >secrets/master.key
#   printf '[global]\\nrepo1-cipher-pass=%s\\n' "$(openssl rand -hex 32)" >secrets/pgbackrest.conf
#   cp fullchain.pem secrets/submission.crt && cp privkey.pem secrets/submission.key
#   chown --recursive :10001 secrets && chmod 640 secrets/*
# Then: docker compose --file compose.prod.yml up --build --detach
# api, console and links are names below DOMAIN; smtp and bounces of it need the ports 587 and 25.
"""


def document() -> dict[str, Any]:
    """Return the Compose document."""
    services: dict[str, Any] = {"caddy": _caddy(), "postgres": _postgres(), "backups": _backups()}
    services["migrate"] = _ours("migrate", ("migrate",), "migrate") | {
        "restart": "no",
        "depends_on": {"postgres": {"condition": "service_healthy"}},
        "healthcheck": {"disable": True},
    }
    services |= {one.name: _service(one) for one in running()}
    services |= watching(_common)
    volumes = ("postgres", "socket", "backups", "data", "metrics", "caddy", "prometheus")
    return {
        "name": "mailqueue",
        "services": services,
        "networks": {
            "default": {},
            "proxied": {"ipam": {"config": [{"subnet": PROXIED}]}},
        },
        "volumes": {name: {} for name in (*volumes, "grafana", "loki", "alloy", "tempo")},
        "secrets": {
            name: {"file": f"${{SECRETS:-./secrets}}/{file}"} for name, file in SECRETS.items()
        },
    }


def running() -> list[Service]:
    """Return the services of mailqueue that have a container."""
    return [one for one in SERVICES if one.container is not None or one.unit is not None]


def _common() -> dict[str, Any]:
    # The tag is the name of the service in what alloy ships.
    options = {"max-size": "50m", "max-file": "5", "tag": "{{.Name}}"}
    return {
        "restart": "unless-stopped",
        "logging": {"driver": "json-file", "options": options},
        "security_opt": ["no-new-privileges:true"],
    }


def _settings() -> dict[str, str]:
    return {
        "MAILQUEUE_MASTER_KEY_FILE": "/run/secrets/master_key",
        "MAILQUEUE_API_NAMES": "api.${DOMAIN:?set DOMAIN in .env}",
        "MAILQUEUE_PUBLIC_URL": "https://links.${DOMAIN}",
        "MAILQUEUE_CONSOLE_URL": "https://console.${DOMAIN}",
        "MAILQUEUE_ARCHIVE": "/var/lib/mailqueue/archive",
        "MAILQUEUE_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_PUBLIC_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_PUBLIC_PORT": "8026",
        "MAILQUEUE_CONSOLE_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_SUBMISSION_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_BOUNCES_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_METRICS_HOST": "0.0.0.0",  # noqa: S104
        "MAILQUEUE_METRICS_PORT": str(METRICS_PORT),
        "MAILQUEUE_NO_TRAP": "true",
        "FORWARDED_ALLOW_IPS": PROXIED,
    }


def _ours(name: str, words: tuple[str, ...], login: str) -> dict[str, Any]:
    settings = _settings() | {
        "MAILQUEUE_DATABASE_URL": f"postgresql://{login}@postgres:5432/mailqueue?pool_max=10",
        "MAILQUEUE_DATABASE_PASSWORD_FILE": f"/run/secrets/{login}_password",
    }
    secrets = ["master_key", f"{login}_password"]
    if name == "submission":
        secrets += ["submission_certificate", "submission_key"]
        settings["MAILQUEUE_SUBMISSION_CERTIFICATE"] = "/run/secrets/submission_certificate"
        settings["MAILQUEUE_SUBMISSION_CERTIFICATE_KEY"] = "/run/secrets/submission_key"
    return _common() | {
        "build": "..",
        "image": "mailqueue:0.1.0",
        "command": list(words),
        "read_only": True,
        "tmpfs": ["/tmp"],  # noqa: S108
        "cap_drop": ["ALL"],
        "stop_grace_period": "60s",
        "environment": settings,
        "secrets": secrets,
        "volumes": ["data:/var/lib/mailqueue"],
        "depends_on": {"migrate": {"condition": "service_completed_successfully"}},
    }


def _service(one: Service) -> dict[str, Any]:
    found = _ours(one.name, one.command, str(one.login))
    if one.name in {at.partition(":")[0] for at in SITES.values()}:
        found["networks"] = ["default", "proxied"]
    if one.name in PUBLISHED:
        found["ports"] = PUBLISHED[one.name]
    if one.needs:  # the operator sets the variables that are missing, and names the profile
        found["profiles"] = [one.name]
        for variable in one.needs:
            name = f"MAILQUEUE_{variable.upper()}"
            found["environment"][name] = f"${{{name}:-{NAMED_HERE.get(variable, '')}}}"
    return found


def _caddy() -> dict[str, Any]:
    return _common() | {
        "image": CADDY_IMAGE,
        "read_only": True,
        "cap_drop": ["ALL"],
        "cap_add": ["NET_BIND_SERVICE"],
        "environment": {"DOMAIN": "${DOMAIN}"},
        "ports": ["80:80", "443:443"],
        "volumes": ["./stack/Caddyfile:/etc/caddy/Caddyfile:ro", "caddy:/data"],
        "tmpfs": ["/config", "/tmp"],  # noqa: S108
        "networks": ["proxied"],
    }


def _postgres() -> dict[str, Any]:
    logins = "/docker-entrypoint-initdb.d/create_logins.sh"
    return _common() | {
        **_of_the_cluster(),
        "command": [
            "postgres",
            *("-c", "archive_mode=on", "-c", "archive_timeout=60"),
            *("-c", "archive_command=pgbackrest --stanza=mailqueue archive-push %p"),
        ],
        "shm_size": "1gb",
        "stop_grace_period": "120s",
        "environment": {
            "POSTGRES_PASSWORD_FILE": "/run/secrets/postgres_password",
            "POSTGRES_USER": "postgres",
            "POSTGRES_DB": "mailqueue",
        },
        "secrets": [
            "postgres_password",
            "backup_passphrase",
            *(f"{login}_password" for login in LOGINS),
        ],
        "volumes": [
            *CLUSTER,
            f"./stack/create_logins.sh:{logins}:ro",
            "../docs/samples/compose/create_logins.sh:/stack/create_logins.sh:ro",
        ],
        "healthcheck": {
            # By TCP: the server that runs the script above listens on its socket only.
            "test": ["CMD", "pg_isready", "--host", "127.0.0.1", "--dbname", "mailqueue"],
            "interval": "5s",
            "timeout": "5s",
            "retries": 60,
        },
    }


def _of_the_cluster() -> dict[str, Any]:
    build = {"context": "stack", "dockerfile": "postgres.Dockerfile"}
    return {"build": build, "image": "mailqueue-postgres:18"}


CLUSTER = (
    "postgres:/var/lib/postgresql",
    "socket:/var/run/postgresql",
    "backups:/var/lib/pgbackrest",
    "./stack/pgbackrest.conf:/etc/pgbackrest/pgbackrest.conf:ro",
)


def _backups() -> dict[str, Any]:
    return _common() | {
        **_of_the_cluster(),
        "user": "postgres",
        "entrypoint": ["/stack/backups.sh"],
        "environment": {"BACKUP_HOUR": "${BACKUP_HOUR:-1}"},
        "secrets": ["backup_passphrase"],
        "volumes": [
            *CLUSTER,
            "./stack/backups.sh:/stack/backups.sh:ro",
            "./pgbackrest/backup.sh:/stack/backup.sh:ro",
            "metrics:/var/lib/mailqueue-metrics",
        ],
        "depends_on": {"postgres": {"condition": "service_healthy"}},
    }


def scraped() -> str:
    """Return the settings of Prometheus: every process of every service, by name."""
    names = [one.name for one in running()]
    found = {
        "global": {"scrape_interval": "15s", "evaluation_interval": "15s"},
        "rule_files": ["alerts.yml"],
        "alerting": {
            "alertmanagers": [{"static_configs": [{"targets": ["alertmanager:9093"]}]}],
        },
        "scrape_configs": [
            {
                "job_name": "mailqueue",
                "dns_sd_configs": [{"names": names, "type": "A", "port": METRICS_PORT}],
            },
            {
                "job_name": "mailqueue_database",
                "metrics_path": "/metrics/database",
                "scrape_timeout": "10s",
                "static_configs": [{"targets": [f"webhooks:{METRICS_PORT}"]}],
            },
            {"job_name": "node", "static_configs": [{"targets": ["node-exporter:9100"]}]},
        ],
    }
    return PROMETHEUS_HEAD + yaml.safe_dump(found, sort_keys=False, width=120)


PROMETHEUS_HEAD = "# Prometheus of the stack. Made by make_compose.py.\n"


def text() -> str:
    """Return the Compose file."""
    return HEAD + yaml.safe_dump(document(), sort_keys=False, width=120)


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
    CADDYFILE.write_text(caddyfile(ROOT), "utf-8")
    PROMETHEUS.write_text(scraped(), "utf-8")

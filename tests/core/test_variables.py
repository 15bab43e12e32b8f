"""Each variable reaches a setting: none is read and then forgotten."""

from base64 import b64encode
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.commands import SecretCommand
from mailqueue.settings.environment import Environment, Pooler, grouped
from mailqueue.settings.logs import LogFormat, LogLevel
from mailqueue.settings.nameserver import parse_name_servers
from mailqueue.settings.oidc import parse_rules
from mailqueue.settings.rabbitmq import Topology, parse_bindings, parse_publish, parse_queues

NAMES = ("queue.example.com",)
OTHERS: dict[str, Any] = {
    "rabbitmq_queues": parse_queues("orders=shop"),
    "rabbitmq_bindings": parse_bindings("orders=orders"),
    "rabbitmq_publish": parse_publish("shop=shop.*"),
    "rabbitmq_topology": Topology.CHECK,
    "oidc_allowed_hosts": (ip_network("10.0.0.0/8"),),
    "oidc_groups": parse_rules("readers=viewer:shop"),
    "pooler": Pooler.SESSION,
    "allowed_hosts": (ip_network("10.0.0.0/8"),),
    "resolver": parse_name_servers("192.0.2.1"),
    "archive": "file:///archive",
    "archive_cold": "file:///cold",
    "attachment_store": ("file:///attachments",),
    "log_level": LogLevel.DEBUG,
    "log_format": LogFormat.JSON,
    "public_url": "https://link.example.com",
    "console_url": "https://console.example.com",
    "console_mail_url": Secret("smtps://other.example.com"),
    "console_mail_from": "other@example.com",
    "oidc_issuer": "https://other.example.com",
    "public_names": NAMES,
    "api_names": NAMES,
    "console_names": NAMES,
    "bounces_domains": NAMES,
    "max_send_rate": 7.0,
    "gmail_topic": "projects/other/topics/inboxes",
    "traces_url": "http://127.0.0.1:4318/v1/traces",
    "traces_headers": Secret("api-key=word"),
    "traces_ratio": 0.5,
}

SECRET_FILES = {
    "database_password_file": "word",
    "master_key_file": b64encode(bytes(32)).decode(),
    "master_key_previous_file": b64encode(bytes(32)).decode(),
    "traces_headers_file": "api-key=word",
}
"""What stands in the files that variables name."""


def usual() -> Environment:
    return Environment(
        oidc_issuer="https://login.example.com",
        oidc_audience="mailqueue",
        oidc_client_id="console",
        oidc_groups="staff=superadmin",  # type: ignore[arg-type]
        console_url="https://mail.example.com",
        console_mail_url=Secret("smtps://smtp.example.com"),
        console_mail_from="console@example.com",
        gmail_client_id="client",
        gmail_client_secret=Secret("word"),
        gmail_topic="projects/example/topics/inboxes",
        gmail_push_account="push@example.com",
        database_url=Secret("postgresql://db.example.com/mail"),
    )


@pytest.fixture(autouse=True)
def _printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that variables name are not started: each prints its own name."""
    monkeypatch.setattr(SecretCommand, "run", lambda command: Secret(command.argv[0]))


def other(name: str, value: object, folder: Path) -> Any:
    """Return a value of the type of a variable that is not the value it has."""
    if name in SECRET_FILES:
        (folder / name).write_text(SECRET_FILES[name], "ascii")
        return folder / name
    if name in OTHERS:
        return OTHERS[name]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, Path):
        return value / "other"
    if name.endswith("_command"):
        return ("other",)
    annotation = str(Environment.model_fields[name].annotation)
    if "Secret" in annotation:
        return Secret("postgresql://other.example.com/mail")
    if "int" in annotation:
        return 4040
    return Path("/other") if "Path" in annotation else "other.example.com"


@pytest.mark.parametrize("name", Environment.model_fields)
def test_a_variable_changes_a_setting(name: str, tmp_path: Path) -> None:
    env = usual()

    changed = env.model_copy(update={name: other(name, getattr(env, name), tmp_path)})

    assert grouped(changed) != grouped(env)

"""compose.prod.yml is made of SERVICES, and names only settings, files and secrets that exist."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from mailqueue.core.services.registry import LISTENERS, SERVICES
from mailqueue.settings.environment import Environment
from tests.deploy.test_containers import DOCKERFILE, accepts
from tests.rules.source import ROOT

STACK = ROOT / "deploy" / "stack"
VARIABLES = {f"MAILQUEUE_{field.upper()}" for field in Environment.model_fields}
SECRET_FILES = {f"MAILQUEUE_{name}_FILE" for name in ("DATABASE_PASSWORD", "MASTER_KEY")}
DAYS_OF_LOGS = 90


def maker() -> ModuleType:
    """Return the program."""
    path = STACK / "make_compose.py"
    spec = importlib.util.spec_from_file_location("make_compose", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["make_compose"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = maker()
TEXT = MAKER.FILE.read_text("utf-8")
DOCUMENT: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES_OF_IT: dict[str, dict[str, Any]] = DOCUMENT["services"]
OURS = {
    name: one for name, one in SERVICES_OF_IT.items() if one.get("image", "") == "mailqueue:0.1.0"
}


def mounts() -> list[tuple[str, str, str]]:
    """Return what is mounted: the service, the source and the path in the container."""
    found = []
    for name, one in SERVICES_OF_IT.items():
        for each in one.get("volumes", []):
            source, path = each.split(":")[:2]
            found.append((name, source, path))
    return found


def test_the_files_are_what_the_program_makes_and_say_that_they_were_not_run() -> None:
    assert MAKER.text() == TEXT
    assert MAKER.caddyfile(ROOT) == MAKER.CADDYFILE.read_text("utf-8")
    assert MAKER.scraped() == MAKER.PROMETHEUS.read_text("utf-8")
    assert TEXT.startswith("# Not run: ")


def test_every_service_of_mailqueue_runs_with_its_command_and_login() -> None:
    expected = {one.name: one for one in SERVICES if one.container or one.unit}

    assert set(OURS) == {*expected, "migrate"}
    for name, service in expected.items():
        one = OURS[name]
        assert tuple(one["command"]) == service.command
        accepts(one["command"])
        url = one["environment"]["MAILQUEUE_DATABASE_URL"]
        assert url.startswith(f"postgresql://{service.login}@postgres:")
        assert f"{service.login}_password" in one["secrets"]
        assert one.get("profiles", []) == ([name] if service.needs else [])


def test_no_setting_is_unknown_and_no_secret_is_a_value() -> None:
    for one in OURS.values():
        names = {name for name in one["environment"] if name.startswith("MAILQUEUE_")}
        assert names - SECRET_FILES <= VARIABLES
        assert not {"MAILQUEUE_MASTER_KEY", "MAILQUEUE_RABBITMQ_PASSWORD"} & names
    for name, one in SERVICES_OF_IT.items():
        for variable, value in one.get("environment", {}).items():
            if re.search("PASSWORD|KEY", variable):
                assert str(value).startswith("/run/secrets/"), (name, variable)


def test_every_file_that_is_mounted_exists() -> None:
    of_hosts = {"/var/lib/docker/containers"}
    for name, source, _ in mounts():
        if source.startswith("."):
            assert (ROOT / "deploy" / source).is_file(), (name, source)
        elif source not in of_hosts:
            assert source in DOCUMENT["volumes"], (name, source)
    assert set(DOCUMENT["volumes"]) == {
        source for _, source, _ in mounts() if not source.startswith((".", "/"))
    }


def test_every_secret_is_declared_used_and_made_by_the_head_of_the_file() -> None:
    used = {name for one in SERVICES_OF_IT.values() for name in one.get("secrets", [])}
    head = TEXT.partition("\nname:")[0]

    assert used == set(DOCUMENT["secrets"])
    for one in DOCUMENT["secrets"].values():
        file = one["file"].removeprefix("${SECRETS:-./secrets}/")
        stem, _, kind = file.partition(".")
        made = (
            f" {stem} " in head.replace(";", " ;")
            if kind == "password"
            else f"secrets/{file}" in head
        )
        assert made, file


def test_containers_of_mailqueue_have_no_rights_and_a_root_that_cannot_be_written_to() -> None:
    for name, one in OURS.items():
        assert one["read_only"], name
        assert one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
        assert one["tmpfs"] == ["/tmp"]
        assert one["volumes"] == ["data:/var/lib/mailqueue"]
    assert "VOLUME /var/lib/mailqueue\n" in DOCKERFILE


def test_nothing_but_mail_and_tls_is_published_beyond_the_host() -> None:
    published = {
        (name, port)
        for name, one in SERVICES_OF_IT.items()
        for port in one.get("ports", [])
        if not port.startswith("127.0.0.1:")
    }

    assert published == {
        ("caddy", "80:80"),
        ("caddy", "443:443"),
        ("submission", "587:2587"),
        ("bounces", "25:2526"),
    }


def test_published_and_proxied_ports_are_those_on_which_services_listen() -> None:
    for name in ("submission", "bounces"):
        [port] = OURS[name]["ports"]
        assert port.endswith(f":{port_of(name)}")
    links = OURS["api"]["environment"]["MAILQUEUE_PUBLIC_PORT"]
    assert {
        "api.example.com": f"api:{port_of('api')}",
        "console.example.com": f"console:{port_of('console')}",
        "links.example.com": f"api:{links}",
    } == MAKER.SITES
    for name, address in MAKER.SITES.items():
        site, service = name.replace("example.com", "{$DOMAIN}"), address.partition(":")[0]
        assert f"\n{site} {{\n" in MAKER.CADDYFILE.read_text("utf-8")
        assert f"import to_mailqueue {address}\n" in MAKER.CADDYFILE.read_text("utf-8")
        assert "proxied" in OURS[service]["networks"]


def port_of(name: str) -> str:
    """Return the port of a service where none is set, as its help says it."""
    [one] = [each for each in LISTENERS if each.name == name]
    [port] = [option for option in one.options if option.flag == "--port"]
    [default] = re.findall(r"; (\d+)\]", port.help)
    return str(default)


def test_what_is_built_here_is_pulled_from_nowhere() -> None:
    built = {one["image"] for one in SERVICES_OF_IT.values() if "build" in one}

    assert built == {"mailqueue:0.1.0", "mailqueue-postgres:18"}
    for name, one in SERVICES_OF_IT.items():
        assert ("build" in one) is (one["image"] in built), name


def test_every_image_has_a_version() -> None:
    for name, one in SERVICES_OF_IT.items():
        if "build" not in one:
            assert re.search(r":v?\d", one["image"]), name


def test_prometheus_reads_the_processes_of_every_service_and_our_alerts() -> None:
    found = yaml.safe_load(MAKER.PROMETHEUS.read_text("utf-8"))
    [discovered] = found["scrape_configs"][0]["dns_sd_configs"]

    assert set(discovered["names"]) == set(OURS) - {"migrate"}
    assert str(discovered["port"]) == OURS["send"]["environment"]["MAILQUEUE_METRICS_PORT"]
    for each in found["scrape_configs"][1:]:
        [target] = each["static_configs"][0]["targets"]
        assert target.split(":")[0] in SERVICES_OF_IT
    assert "./prometheus/alerts.yml" in {source for _, source, _ in mounts()}


def test_grafana_shows_our_dashboard_and_all_three_sources() -> None:
    sources = yaml.safe_load((STACK / "grafana" / "sources.yml").read_text())["datasources"]
    [folder] = yaml.safe_load((STACK / "grafana" / "folders.yml").read_text())["providers"]

    assert {one["type"] for one in sources} == {"prometheus", "loki", "tempo"}
    for one in sources:
        assert one["url"].removeprefix("http://").split(":")[0] in SERVICES_OF_IT
    [path] = [at for name, source, at in mounts() if source == "./grafana/dashboard.json"]
    assert path.startswith(f"{folder['options']['path']}/")
    json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text("utf-8"))


def test_logs_of_access_are_kept_for_90_days_and_then_deleted() -> None:
    loki = yaml.safe_load((STACK / "loki.yml").read_text())

    assert loki["limits_config"]["retention_period"] == f"{DAYS_OF_LOGS * 24}h"
    assert loki["compactor"]["retention_enabled"], "without it nothing is deleted"
    assert loki["compactor"]["delete_request_store"]


def test_what_caddy_logs_has_no_path_query_or_header() -> None:
    text = MAKER.CADDYFILE.read_text("utf-8")

    for field in ("request>uri", "request>headers", "resp_headers"):
        assert f"{field} delete" in text


def test_every_line_that_is_shipped_has_the_name_of_its_container() -> None:
    shipping = (STACK / "logs.alloy").read_text("utf-8")

    assert "attrs.tag" in shipping
    for name, one in SERVICES_OF_IT.items():
        assert one["logging"]["driver"] == "json-file", name
        assert one["logging"]["options"]["tag"] == "{{.Name}}", name


@pytest.mark.parametrize("name", ["create_logins.sh", "backups.sh"])
def test_programs_that_containers_start_can_be_run(name: str) -> None:
    path = STACK / name

    assert path.stat().st_mode & 0o111
    assert path.read_text("utf-8").startswith("#!/bin/sh\n")


@pytest.mark.deep
@pytest.mark.parametrize(("hour", "wait"), [("0", 24), ("1", 1), ("08", 8), ("23", 23)])
def test_backups_wait_for_the_hour_that_the_installation_names(
    hour: str, wait: int, tmp_path: Path
) -> None:
    assert SERVICES_OF_IT["backups"]["environment"] == {"BACKUP_HOUR": "${BACKUP_HOUR:-1}"}
    for name, text in {
        "pgbackrest": "exit 0",
        "date": "echo 1764374400",  # midnight
        "sleep": f'echo "$1" >{tmp_path}/slept; kill "$PPID"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "BACKUP_HOUR": hour}
    subprocess.run(
        ["/bin/sh", STACK / "backups.sh"], env=env, capture_output=True, timeout=60, check=False
    )

    assert (tmp_path / "slept").read_text() == f"{wait * 3600}\n"

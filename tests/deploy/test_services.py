"""Containers, units for systemd and logins are those that SERVICES names."""

import configparser
import importlib
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from mailqueue.core.queues.registry import QUEUES
from mailqueue.core.services.model import Service, ServiceLogin
from mailqueue.core.services.registry import LISTENERS, SERVICES, service_named
from mailqueue.process.groups import MAIL
from mailqueue.settings.environment import Environment
from tests.deploy.test_containers import accepts, ours
from tests.rules.source import ROOT

UNITS = ROOT / "docs" / "samples" / "systemd"
CREATE_LOGINS = ROOT / "docs" / "samples" / "compose" / "create_logins.sh"
OPERATING = ROOT / "docs" / "operating.md"


def container_faults(
    services: Iterable[Service], containers: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return where containers differ from the services."""
    found = []
    expected = {one.container: one for one in services if one.container is not None}
    for name, service in expected.items():
        if name not in containers:
            found.append(f"docker-compose.yml has no service {name} for {service.name}")
            continue
        variables = containers[name]["environment"]
        login = urlsplit(variables["MAILQUEUE_DATABASE_URL"]).username
        found += command_faults(name, service, containers[name]["command"])
        if login != service.login:
            found.append(f"{name} logs in as {login}, not as {service.login}")
        found += [
            f"{name} does not set MAILQUEUE_{each.upper()}"
            for each in service.needs
            if f"MAILQUEUE_{each.upper()}" not in variables
        ]
    return found + [
        f"{name} of docker-compose.yml is not in SERVICES"
        for name in containers
        if name not in expected
    ]


def unit_faults(services: Iterable[Service], texts: Mapping[str, str]) -> list[str]:
    """Return where units, by their names without `.service`, differ from the services."""
    found = []
    expected = {one.unit: one for one in services if one.unit is not None}
    for name, service in expected.items():
        if name not in texts:
            found.append(f"there is no {name}.service for {service.name}")
            continue
        words = shlex.split(section_of(texts[name])["ExecStart"])
        found += command_faults(name, service, words[1:])
        if f"\nEnvironmentFile=-/etc/mailqueue-{service.login}.env\n" not in texts[name]:
            found.append(f"{name} does not read /etc/mailqueue-{service.login}.env")
    return found + [f"{name}.service is not in SERVICES" for name in texts if name not in expected]


def command_faults(name: str, service: Service, words: list[str]) -> list[str]:
    """Return how the words after `mailqueue` differ from the command of a service.

    The order of queues is free, and options may follow.
    """
    count = len(service.command)
    command, options = words[:count], words[count:]
    if sorted(command) == sorted(service.command) and (not options or options[0][0] == "-"):
        return []
    return [f"{name} runs {' '.join(words)!r}, not {' '.join(service.command)!r}"]


def login_faults(script: str) -> list[str]:
    """Return where the script that makes the logins differs from `ServiceLogin`."""
    made = set(re.findall(r"CREATE ROLE (\w+) LOGIN PASSWORD :'\w+' IN ROLE (\w+);", script))
    expected = {(str(login), login.role) for login in ServiceLogin}
    return [f"missing: {login} in {role}" for login, role in sorted(expected - made)] + [
        f"not in ServiceLogin: {login} in {role}" for login, role in sorted(made - expected)
    ]


def section_of(text: str) -> configparser.SectionProxy:
    """Return the section `Service` of a unit."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser["Service"]


def containers() -> dict[str, dict[str, Any]]:
    """Return the containers that run a service, and do not end once the schema is current."""
    return {name: one for name, one in ours().items() if one["command"] != ["migrate"]}


def units() -> dict[str, str]:
    return {path.stem: path.read_text("utf-8") for path in UNITS.glob("*.service")}


def test_every_container_is_that_of_a_service() -> None:
    assert container_faults(SERVICES, containers()) == []


def test_every_unit_is_that_of_a_service() -> None:
    assert unit_faults(SERVICES, units()) == []


def test_the_logins_and_their_roles_are_those_of_services() -> None:
    assert {one.login for one in SERVICES} == set(ServiceLogin)
    assert login_faults(CREATE_LOGINS.read_text("utf-8")) == []


def test_every_queue_is_worked_on_by_a_service() -> None:
    """Without one, its rows would wait forever."""
    worked_on = {*MAIL, *(name for service in SERVICES for name in service.queues)}

    assert {spec.name for spec in QUEUES} - worked_on == set()


@pytest.mark.parametrize("service", SERVICES, ids=lambda one: one.name)
def test_the_command_of_every_service_is_one_of_ours(service: Service) -> None:
    accepts(list(service.command))


@pytest.mark.parametrize("service", LISTENERS, ids=lambda one: one.name)
def test_every_listener_is_a_function_and_its_options_are_settings(service: Service) -> None:
    module, _, function = (service.listener or "").partition(":")
    named = {one.variable for one in service.options} | {*service.fixed, *service.needs}

    assert callable(getattr(importlib.import_module(module), function))
    assert named <= set(Environment.model_fields)


@pytest.mark.parametrize("service", SERVICES, ids=lambda one: one.name)
def test_the_documented_login_of_every_service_is_its_own(service: Service) -> None:
    lines = OPERATING.read_text("utf-8").splitlines()
    [row] = [
        one for one in lines if one.startswith(f"| `{service.login}` | `{service.login.role}`")
    ]
    mentioned = {each.rpartition(" ")[2] for each in re.findall(r"`([^`]+)`", row.split("|")[3])}
    words = service.command[-1:] if service.listener else service.command[1:]

    assert set(words) - mentioned == set()


def test_a_container_that_is_missing_or_differs_is_named() -> None:
    bounces, bridge = service_named("bounces"), service_named("rabbitmq")
    url = {"MAILQUEUE_DATABASE_URL": "postgresql://api:api@postgres/mailqueue"}
    given = {
        "rabbitmq-bridge": {"command": ["worker", "inbound"], "environment": url},
        "other": {"command": ["api"], "environment": url},
    }

    assert container_faults([bounces, bridge], given) == [
        "docker-compose.yml has no service bounces for bounces",
        "rabbitmq-bridge runs 'worker inbound', not 'worker rabbitmq'",
        "rabbitmq-bridge logs in as api, not as worker",
        "rabbitmq-bridge does not set MAILQUEUE_RABBITMQ_URL",
        "rabbitmq-bridge does not set MAILQUEUE_RABBITMQ_QUEUES",
        "other of docker-compose.yml is not in SERVICES",
    ]


def test_a_unit_that_is_missing_or_differs_is_named() -> None:
    api, console = service_named("api"), service_named("console")
    text = "[Service]\nExecStart=/bin/mailqueue api 8080\nEnvironmentFile=/etc/mailqueue.env\n"

    assert unit_faults([api, console], {"mailqueue-api": text, "mailqueue-x": text}) == [
        "mailqueue-api runs 'api 8080', not 'api'",
        "mailqueue-api does not read /etc/mailqueue-api.env",
        "there is no mailqueue-console.service for console",
        "mailqueue-x.service is not in SERVICES",
    ]


def test_a_queue_that_a_container_leaves_out_is_named() -> None:
    webhooks = service_named("webhooks")
    fewer = replace(webhooks, command=webhooks.command[:-1])

    assert command_faults("webhooks", webhooks, list(fewer.command)) != []
    assert command_faults("webhooks", webhooks, [*reversed(webhooks.command)]) == []


def test_a_login_that_is_missing_or_in_another_role_is_named() -> None:
    script = CREATE_LOGINS.read_text("utf-8").replace(
        "IN ROLE mailqueue_api", "IN ROLE mailqueue_dba"
    )

    assert login_faults(script) == [
        "missing: api in mailqueue_api",
        "not in ServiceLogin: api in mailqueue_dba",
    ]

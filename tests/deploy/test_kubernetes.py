"""The manifests for Kubernetes are those that the program makes of SERVICES."""

import importlib.util
import sys
from ipaddress import ip_address, ip_network
from types import ModuleType
from typing import Any

import pytest
import yaml

from mailqueue.api.suppression.lists import IMPORT_BYTES
from mailqueue.core.services.registry import LISTENERS, SERVICES
from mailqueue.settings.environment import Environment
from tests.deploy.test_containers import accepts
from tests.rules.source import ROOT

VARIABLES = {f"MAILQUEUE_{field.upper()}" for field in Environment.model_fields}
OF_UVICORN = {"FORWARDED_ALLOW_IPS"}


def maker() -> ModuleType:
    """Return the program."""
    path = ROOT / "deploy" / "kubernetes" / "make_manifests.py"
    spec = importlib.util.spec_from_file_location("make_manifests", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["make_manifests"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = maker()
TEXT = MAKER.FILE.read_text("utf-8")
DOCUMENTS: list[dict[str, Any]] = list(yaml.safe_load_all(TEXT))


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    """Return the documents of a kind, by name without `mailqueue-`."""
    found = [one for one in DOCUMENTS if one["kind"] == kind]
    return {one["metadata"]["name"].removeprefix("mailqueue-"): one["spec"] for one in found}


def container(spec: dict[str, Any]) -> dict[str, Any]:
    [one] = spec["template"]["spec"]["containers"]
    return dict(one)


def variables(one: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in one["env"]}


def test_the_file_is_what_the_program_makes_and_says_that_it_was_not_run() -> None:
    assert MAKER.text() == TEXT
    assert TEXT.startswith("# Not run: ")


def test_every_service_has_its_deployment_with_its_command_and_login() -> None:
    deployments = of_kind("Deployment")
    expected = {one.name: one for one in SERVICES if one.container or one.unit}

    assert set(deployments) == set(expected)
    for name, service in expected.items():
        found = container(deployments[name])
        assert tuple(found["args"]) == service.command
        accepts(found["args"])
        assert variables(found)["MAILQUEUE_DATABASE_URL"].startswith(
            f"postgresql://{service.login}@"
        )
        secrets = [one.get("secret", {}).get("secretName") for one in volumes(deployments[name])]
        assert f"mailqueue-{service.login}" in secrets


def volumes(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return list(spec["template"]["spec"]["volumes"])


def test_only_the_migration_and_upkeep_act_as_the_owner() -> None:
    pods = {**of_kind("Deployment"), **of_kind("Job")}
    owners = {
        name
        for name, spec in pods.items()
        if "//migrate@" in variables(container(spec))["MAILQUEUE_DATABASE_URL"]
    }

    assert owners == {"migrate", "upkeep"}


def test_no_secret_stands_in_the_file_and_no_variable_is_unknown() -> None:
    [settings] = [one["data"] for one in DOCUMENTS if one["kind"] == "ConfigMap"]
    named = set(settings) | {
        name
        for spec in (*of_kind("Deployment").values(), *of_kind("Job").values())
        for name in variables(container(spec))
    }

    assert named - OF_UVICORN <= VARIABLES
    assert "Secret" not in {one["kind"] for one in DOCUMENTS}
    assert not {"MAILQUEUE_MASTER_KEY", "MAILQUEUE_RABBITMQ_PASSWORD"} & named


def test_every_pod_runs_without_rights_and_is_probed() -> None:
    for name, spec in of_kind("Deployment").items():
        one, pod = container(spec), spec["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert one["securityContext"]["readOnlyRootFilesystem"]
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert one["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "metrics"}
        listens = name in {each.name for each in LISTENERS} - {"rabbitmq", "idle", "traces"}
        assert ("readinessProbe" in one) is listens


def test_the_ports_are_those_of_the_services_and_names_lead_to_them() -> None:
    services = of_kind("Service")
    defaults = {
        option.variable: option.help
        for one in LISTENERS
        for option in one.options
        if option.flag == "--port"
    }
    for name, variable in (("console", "console_port"), ("submission", "submission_port")):
        [port] = services[name]["ports"]
        assert str(port["port"]) in defaults[variable]
    for rule in of_kind("Ingress")["mailqueue"]["rules"]:
        backend = rule["http"]["paths"][0]["backend"]["service"]
        offered = services[backend["name"].removeprefix("mailqueue-")]["ports"]
        assert backend["port"]["name"] in {each["name"] for each in offered}


def test_the_ingress_logs_nothing_and_takes_the_largest_body() -> None:
    [ingress] = [one for one in DOCUMENTS if one["kind"] == "Ingress"]
    notes = ingress["metadata"]["annotations"]

    assert notes["nginx.ingress.kubernetes.io/enable-access-log"] == "false"
    limit = int(notes["nginx.ingress.kubernetes.io/proxy-body-size"].removesuffix("m"))
    assert limit * 1024 * 1024 > IMPORT_BYTES


@pytest.mark.parametrize("kind", ["PodDisruptionBudget", "HorizontalPodAutoscaler"])
def test_budgets_and_scaling_name_deployments(kind: str) -> None:
    found = of_kind(kind)

    assert found
    assert set(found) <= set(of_kind("Deployment"))


def egress_of(service: str) -> list[dict[str, Any]]:
    """Return what the policies let pods of a service connect to."""
    labels = MAKER._labels(service)
    return [
        rule
        for spec in of_kind("NetworkPolicy").values()
        if "Egress" in spec["policyTypes"]
        and spec["podSelector"].get("matchLabels", {}).items() <= labels.items()
        for rule in spec.get("egress", [])
    ]


def internet_of(service: str) -> list[dict[str, Any]]:
    """Return the rules of a service that lead out of the cluster, but to the database."""
    database = {"ipBlock": {"cidr": MAKER.DATABASE}}
    return [
        rule
        for rule in egress_of(service)
        if any("ipBlock" in peer and peer != database for peer in rule["to"])
    ]


PODS = sorted({*of_kind("Deployment"), "migrate"})


def test_a_pod_connects_to_nothing_that_no_policy_names() -> None:
    [nothing] = [spec for spec in of_kind("NetworkPolicy").values() if spec["podSelector"] == {}]

    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.parametrize("service", PODS)
def test_every_pod_reaches_name_servers_and_the_database(service: str) -> None:
    ports = [
        (port["protocol"], port["port"])
        for rule in egress_of(service)
        for port in rule.get("ports", [])
    ]

    assert {("UDP", 53), ("TCP", 53), ("TCP", 5432)} <= set(ports)
    for rule in egress_of(service):
        if {"protocol": "TCP", "port": 5432} in rule.get("ports", []):
            assert rule["to"] == [{"ipBlock": {"cidr": MAKER.DATABASE}}]


def test_ports_of_smtp_are_open_to_services_that_connect_to_servers_of_accounts_alone() -> None:
    open_to = {
        service
        for service in PODS
        for rule in internet_of(service)
        if service != "webhooks" and {25, 465, 587} & {port["port"] for port in rule["ports"]}
    }

    assert open_to == {"api", "console", "send"}


def test_no_pod_reaches_networks_of_the_cluster_by_way_of_the_internet() -> None:
    rules = [rule for service in PODS for rule in internet_of(service)]

    assert rules
    for rule in rules:
        [peer] = rule["to"]
        left_out = {ip_network(each) for each in peer["ipBlock"]["except"]}
        for address in ("10.96.0.1", "192.168.0.1", "172.20.1.1", "169.254.169.254", "127.0.0.1"):
            assert any(ip_address(address) in each for each in left_out), address
        assert not any(ip_address("8.8.8.8") in each for each in left_out)


def test_what_needs_the_database_alone_does_not_reach_the_internet() -> None:
    assert {service for service in PODS if not internet_of(service)} == {
        "migrate",
        "bounces",
        "rabbitmq",
    }

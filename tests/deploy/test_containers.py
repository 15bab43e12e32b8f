"""The container files name only existing variables, commands, options and files."""

import importlib
import json
import re
import shlex
from typing import Any

import click
import pytest
import yaml

from mailqueue.cli.main import main
from mailqueue.settings.environment import Environment
from tests.rules.source import ROOT

VARIABLES = {f"MAILQUEUE_{field.upper()}" for field in Environment.model_fields}
COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
    return loaded


def ours() -> dict[str, dict[str, Any]]:
    services: dict[str, dict[str, Any]] = compose()["services"]
    return {name: service for name, service in services.items() if "build" in service}


def accepts(arguments: list[str]) -> None:
    """Let the real command line parse the arguments, without running anything.

    Raises:
        click.UsageError: for a command, option or value there is not.
    """
    command: click.Command = main
    parent: click.Context | None = None
    while True:
        context = command.make_context(command.name, list(arguments), parent=parent)
        if not isinstance(command, click.Group):
            return
        rest = [*context._protected_args, *context.args]
        _, found, arguments = command.resolve_command(context, rest)
        assert found is not None
        command, parent = found, context


def documented() -> list[str]:
    """Return the mailqueue commands in the comments of the compose file."""
    text = re.sub(r"\\\n#", " ", COMPOSE_TEXT)
    return re.findall(r"docker compose run --rm \w+ (.+)", text)


def test_every_variable_is_a_setting() -> None:
    named = set(re.findall(r"\bMAILQUEUE_[A-Z_]+", COMPOSE_TEXT + DOCKERFILE))

    assert named
    assert named <= VARIABLES


@pytest.mark.parametrize("name", sorted(ours()))
def test_every_command_of_a_service_is_one_of_ours(name: str) -> None:
    accepts(ours()[name]["command"])


def test_every_command_in_a_comment_is_one_of_ours() -> None:
    assert documented()
    for line in documented():
        accepts(shlex.split(line))


def test_a_command_there_is_not_is_found() -> None:
    for arguments in (["migrat"], ["migrate", "--backwards"], ["sender", "hire"]):
        with pytest.raises(click.UsageError):
            accepts(arguments)


def test_postgresql_18_keeps_its_data_where_the_image_mounts_it() -> None:
    postgres = compose()["services"]["postgres"]

    assert postgres["image"] == "postgres:18"
    assert "postgres:/var/lib/postgresql" in postgres["volumes"]


def test_every_file_that_is_mounted_is_there() -> None:
    mounted = [
        volume.split(":")[0]
        for service in compose()["services"].values()
        for volume in service.get("volumes", [])
        if volume.startswith(".")
    ]

    assert mounted
    for name in mounted:
        assert (ROOT / name).is_file()


def test_every_part_that_listens_is_looked_after() -> None:
    for name, service in compose()["services"].items():
        if "ports" in service and name in ours():
            assert "healthcheck" in service, name


def test_programs_in_a_text_of_ours_are_valid() -> None:
    """Shell scripts and health checks in the image contain Python code in quotes."""
    texts = [
        *re.findall(r"python -P -c '([^']+)'", COMPOSE_TEXT),
        *(one["healthcheck"]["test"][3] for one in ours().values() if "healthcheck" in one),
    ]

    assert len(texts) > 3
    for text in texts:
        compile(text.replace("\n", " "), "docker-compose.yml", "exec")
    for module, name in re.findall(r"from (mailqueue\S*) import (\w+)", " ".join(texts)):
        assert hasattr(importlib.import_module(module), name)


def test_nothing_is_published_beyond_this_machine() -> None:
    for service in compose()["services"].values():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")


def test_every_service_waits_for_the_schema() -> None:
    for name, service in ours().items():
        needed = "postgres" if name == "migrate" else "migrate"
        assert list(service["depends_on"]) == [needed]


def test_the_image_copies_existing_files_and_runs_as_an_unprivileged_user() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE)

    assert copied
    for names in copied:
        for name in names.split():
            assert (ROOT / name).exists(), name
    assert re.search(r"^USER mailqueue$", DOCKERFILE, re.MULTILINE)
    assert re.search(r"^FROM python:3\.1[1-9]-slim$", DOCKERFILE, re.MULTILINE)


def test_only_the_stage_that_builds_has_what_builds() -> None:
    build, final = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]

    assert build.startswith("python:3.13-slim AS build\n")
    assert "pip wheel" in build
    assert "--require-hashes" in build
    assert not re.search(r"\b(pip wheel|apt-get|gcc|build-essential|COPY)\b", final)
    assert "--no-index --no-deps /wheels/*.whl" in final
    assert "source=/wheels,target=/wheels" in final, "the wheels are no layer of the image"


def test_the_image_runs_as_the_user_and_group_of_the_manifests_and_its_health_is_asked() -> None:
    assert "--uid 10001 --gid mailqueue" in DOCKERFILE
    assert "--gid 10001 mailqueue" in DOCKERFILE
    [command] = re.findall(r"^HEALTHCHECK [^\n]* CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    program = json.loads(command)
    assert program[:3] == ["python", "-P", "-c"]
    compile(program[3], "Dockerfile", "exec")
    assert "/livez" in program[3]
    assert "MAILQUEUE_METRICS_PORT=9464" in DOCKERFILE
    assert (ROOT / "Dockerfile").read_text("utf-8").startswith("# Not built: ")


def test_what_is_copied_is_let_through_to_the_build() -> None:
    allowed = (ROOT / ".dockerignore").read_text("utf-8")

    for names in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE):
        for name in names.split():
            assert f"!{name}\n" in allowed

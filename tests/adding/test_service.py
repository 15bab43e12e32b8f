"""A listener is added in three files; it has a command, a container, a unit and a login."""

from pathlib import Path

import pytest

from tests.adding.copied import Copy

HERE = Path(__file__).parent / "service"
MAX_FILES = 3
ROW = """\
    Service(
        name="links",
        command=("links",),
        summary="Run only links in mail and webhooks of providers.",
        login=ServiceLogin.API,
        in_up=InUp.NO,
        listener="mailqueue.wiring.services.links:links",
        help="Serve links in mail and webhooks of providers until SIGTERM or Ctrl-C.",
        examples=("mailqueue links --host 0.0.0.0 --port 8027",),
        options=(
            ServiceOption.host("public_host"),
            ServiceOption.port("public_port", 0),
        ),
        fixed={"no_trap": True},
        container="links",
        unit="mailqueue-links",
    ),
"""
CONTAINER = """\
  links:
    <<: *mailqueue
    command: ["links", "--host", "0.0.0.0", "--port", "8027"]
    environment: *as_api

"""
CONTAINER_OF_NEXT = "workers:"
REGISTRY = "mailqueue/core/services/registry.py"
OF_LISTENERS = "tests/deploy/test_services.py"


@pytest.fixture
def copy(copy: Copy) -> Copy:
    """Return a copy of the checkout with the listener and its row, in no sample yet."""
    copy.add("mailqueue/wiring/services/links.py", text("links.py"))
    copy.replace(REGISTRY, ")\n\nLISTENERS = ", f"{ROW})\n\nLISTENERS = ")
    return copy


def text(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def test_a_listener_is_added_in_three_files_and_runs_with_its_login(copy: Copy) -> None:
    copy.insert("docker-compose.yml", CONTAINER, before=CONTAINER_OF_NEXT)
    copy.add("docs/samples/systemd/mailqueue-links.service", text("unit.service"))
    copy.replace(
        "docs/operating.md",
        "`mailqueue api`, `mailqueue console`, ",
        "`mailqueue api`, `mailqueue console`, `mailqueue links`, ",
    )
    copy.add("tests/api/public/test_links_alone.py", text("served.py"))

    assert len(copy.changed) <= MAX_FILES, copy.changed
    assert "links in mail" in copy.run("-m", "mailqueue", "--help")
    assert "MAILQUEUE_PUBLIC_PORT" in copy.run("-m", "mailqueue", "links", "--help")
    copy.pytest(
        *(OF_LISTENERS, "tests/deploy/test_containers.py", "tests/docs/test_samples.py"),
        *("tests/api/public/test_links_alone.py", "tests/rules/test_imports.py"),
        *("-k", "not let_through"),  # the copy has no .dockerignore
        "tests/deploy/test_container_logins.py::test_a_part_gets_ready_with_its_own_login[links]",
    )


def test_what_is_missing_for_a_listener_is_named(copy: Copy) -> None:
    with pytest.raises(AssertionError) as failed:
        copy.pytest("--maxfail=9", OF_LISTENERS)

    for sentence in (
        "docker-compose.yml has no service links for links",
        "there is no mailqueue-links.service for links",
        "test_the_documented_login_of_every_service_is_its_own[links]",
    ):
        assert sentence in str(failed.value)

"""A PostgreSQL from a container image, if this machine has a container engine."""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg

OPTION = "--image"
_PORT = 5432
_START_SECONDS = 120


class NoEngine(Exception):
    """Docker, or a compatible engine, cannot be reached or cannot run the image."""


@contextmanager
def postgresql_of(image: str, settings: Mapping[str, str]) -> Iterator[str]:
    """Run an image of PostgreSQL; yield the connection string of its superuser.

    Raises:
        NoEngine: if the engine cannot be reached or cannot start the image.
    """
    from docker.errors import DockerException
    from testcontainers.core.container import DockerContainer

    user, password = f"owner_{secrets.token_hex(4)}", secrets.token_hex(16)
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    try:
        container = (
            DockerContainer(image)
            .with_exposed_ports(_PORT)
            .with_env("POSTGRES_USER", user)
            .with_env("POSTGRES_PASSWORD", password)
            .with_command(["postgres", *options])
        )
        container.start()
    except DockerException as error:
        raise NoEngine(f"{OPTION} {image} needs a container engine: {error}") from error
    try:
        host, port = container.get_container_host_ip(), container.get_exposed_port(_PORT)
        url = f"postgresql://{user}:{password}@{host}:{port}/postgres"
        _wait_for(url)
        yield url
    finally:
        container.stop()


def _wait_for(url: str) -> None:
    """Wait until the server accepts connections: while the image sets itself up, it has none."""
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return

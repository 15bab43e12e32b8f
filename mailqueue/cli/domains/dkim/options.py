"""Options that the commands about a domain's DNS share."""

import click

from mailqueue.core.errors import ConfigError
from mailqueue.settings.nameserver import NameServer, parse_name_servers

project_option = click.option(
    "--project", default="default", show_default=True, help="Project that sends for the domain."
)
resolver_option = click.option(
    "--resolver",
    metavar="ADDRESS[:PORT]",
    help="DNS server to ask.  [default: MAILQUEUE_RESOLVER, else the system's]",
)


def name_servers(given: str | None, configured: tuple[NameServer, ...]) -> tuple[NameServer, ...]:
    """Return which DNS servers to ask: those of the option, else the setting's.

    Raises:
        ConfigError: the option names none.
    """
    if given is None:
        return configured
    try:
        return parse_name_servers(given)
    except ValueError as exc:
        raise ConfigError(f"--resolver: {exc}") from None

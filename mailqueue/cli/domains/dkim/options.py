"""Options shared by the commands about a domain's DNS."""

import click

from mailqueue.core.errors import ConfigError
from mailqueue.settings.nameserver import NameServer, parse_name_servers

project_option = click.option(
    "--project", default="default", show_default=True, help="Project that sends from the domain."
)
resolver_option = click.option(
    "--resolver",
    metavar="ADDRESS[:PORT]",
    help="DNS server to query.  [default: MAILQUEUE_RESOLVER, else the system's]",
)


def name_servers(text: str | None, configured: tuple[NameServer, ...]) -> tuple[NameServer, ...]:
    """Return the DNS servers to query: those of the option, otherwise those of the setting.

    Raises:
        ConfigError: the option is not a list of servers.
    """
    if text is None:
        return configured
    try:
        return parse_name_servers(text)
    except ValueError as exc:
        raise ConfigError(f"--resolver: {exc}") from None

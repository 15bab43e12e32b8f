"""Settings of the running command: the environment and the options of the command line."""

from typing import Any

from mailqueue.cli.support.groups import given_data
from mailqueue.settings.environment import Settings, load_settings


def command_settings(**options: Any) -> Settings:
    """Return the settings; options that are not None take precedence over the environment.

    Raises:
        ConfigError: one line for each invalid setting.
    """
    if options.get("data") is None:
        options["data"] = given_data()
    return load_settings(**options)

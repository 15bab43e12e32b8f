"""The commands of the listeners in SERVICES, such as `mailqueue api`: one process each."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import uvloop

from mailqueue.api.metrics.serving import metrics_beside
from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.core.services.model import OptionKind, Service, ServiceOption
from mailqueue.core.services.registry import service_named
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import borrow, open_pool
from mailqueue.operations.services import reporting
from mailqueue.process import signals
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised
from mailqueue.wiring.services.running import ListeningService, ServiceContext, listen

_TYPES: Mapping[OptionKind, dict[str, Any]] = {
    OptionKind.TEXT: {},
    OptionKind.PORT: {"type": click.IntRange(0, 65535)},
    OptionKind.FILE: {"type": click.Path(path_type=Path, dir_okay=False)},
    OptionKind.FLAG: {"is_flag": True, "default": None},
}


def command_of(service: Service) -> click.Command:
    """Return the command that runs a listener until SIGTERM or Ctrl-C."""

    def run(**options: Any) -> None:
        settings = command_settings(**options, **service.fixed)
        configure_logging(settings.log)
        uvloop.run(serve(service, settings))

    command = click.command(
        service.command[-1], help=service.help, epilog=examples(*service.examples)
    )(json_option(run) if service.has_json else run)
    command.params[:0] = [_option(one) for one in service.options]
    return command


def __getattr__(name: str) -> click.Command:
    """Return the command of the listener of that name."""
    try:
        return command_of(service_named(name))
    except KeyError:
        raise AttributeError(name) from None


async def serve(service: Service, settings: Settings) -> None:
    """Run a listener, over connections of its own, until SIGTERM or Ctrl-C.

    Raises:
        ConfigError: a setting stands in the way, or the schema does not fit.
        Unavailable: the database is unavailable.
    """
    async with (
        signals.stop_signal() as stop,
        supervised(stop) as tell_ready,
        open_pool(settings.database, application_name=f"mailqueue/{service.name}") as pool,
        metrics_beside(settings, pool=pool),
    ):
        async with borrow(pool, settings.database) as conn:
            await require_current(conn)
        context = ServiceContext(settings, pool, stop, report=_report)
        async with listen(service, context) as found:
            if found is None:
                tell_ready()
                await stop.wait()
                return
            async with reporting(settings.database, {service.name: found.is_running}):
                print_result(found.document, partial(_print, found))
                tell_ready()
                await stop.wait()


def _option(one: ServiceOption) -> click.Option:
    return click.Option([one.flag, one.variable], help=one.help, **_TYPES[one.kind])


def _print(found: ListeningService) -> None:
    for line in found.lines:
        _report(line)


def _report(line: str) -> None:
    click.echo(line, err=True)

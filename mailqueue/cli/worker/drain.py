"""`mailqueue worker drain` and `resume`: workers that finish what they have and claim no more."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Command, examples
from mailqueue.contract.infrastructure import DrainedWorkers
from mailqueue.operations import platform


def _choice(command: Command) -> Command:
    worker = click.argument("worker", type=click.IntRange(min=1), required=False)
    host = click.option("--host", help="All workers of a host.")
    return worker(host(command))


@click.command(epilog=examples("mailqueue worker drain 17", "mailqueue worker drain --host mail2"))
@_choice
@json_option
def drain(*, worker: int | None, host: str | None) -> None:
    """Let a running worker finish what it holds and claim nothing more.

    `mailqueue status` lists the ids of workers. The process keeps running until it is stopped, and
    what waits is left to other workers. A process that starts later is not drained.
    """
    _check(worker, host)
    done = execute(lambda app: _drained(app, worker, host))
    print_message(done, f"draining {_named(done)}")


@click.command(
    epilog=examples("mailqueue worker resume 17", "mailqueue worker resume --host mail2")
)
@_choice
@json_option
def resume(*, worker: int | None, host: str | None) -> None:
    """Let drained workers claim again."""
    _check(worker, host)
    done = execute(lambda app: _resumed(app, worker, host))
    print_message(done, f"resumed {_named(done)}")


def _check(worker: int | None, host: str | None) -> None:
    if (worker is None) == (host is None):
        raise click.UsageError("give the id of a WORKER, or --host")


def _named(done: DrainedWorkers) -> str:
    noun = "worker" if len(done.workers) == 1 else "workers"
    return f"{noun} {', '.join(map(str, done.workers))}"


async def _drained(app: Opened, worker: int | None, host: str | None) -> DrainedWorkers:
    return await platform.drain(app.conn, worker=worker, host=host, by=operator())


async def _resumed(app: Opened, worker: int | None, host: str | None) -> DrainedWorkers:
    return await platform.resume_workers(app.conn, worker=worker, host=host, by=operator())

"""The process that worker processes are forked from: `python -m mailqueue.cli.worker.forked FD`."""

import sys

from mailqueue.cli.main import load, main
from mailqueue.cli.support.loading import load_module
from mailqueue.cli.worker.commands import COMMANDS
from mailqueue.cli.worker.send import SENDING
from mailqueue.core.queues.registry import QUEUES
from mailqueue.process.starting.server import serve


def load_all() -> None:
    """Load what worker processes use."""
    for name in ("send", *(spec.name for spec in QUEUES)):
        load(COMMANDS[name])
    load_module(SENDING)
    for spec in QUEUES:
        load_module(spec.handler.partition(":")[0])


def run(descriptor: int) -> None:
    """Load what worker processes use and fork them; in a fork, run its command."""
    load_all()
    arguments = serve(descriptor)
    if arguments is not None:
        main(arguments, prog_name="mailqueue")


if __name__ == "__main__":
    run(int(sys.argv[1]))

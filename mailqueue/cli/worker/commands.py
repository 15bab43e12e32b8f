"""`mailqueue worker`: worker processes."""

from collections.abc import Mapping

from mailqueue.cli.commands import Lazy, listener_commands
from mailqueue.cli.main import LazyGroup
from mailqueue.cli.support.output import examples
from mailqueue.core.queues.registry import QUEUES
from mailqueue.core.services.registry import service_named

COMMANDS: Mapping[str, Lazy] = {
    "send": Lazy("mailqueue.cli.worker.send:send", service_named("send").summary),
    **listener_commands("worker"),
    **{
        spec.name: Lazy(f"mailqueue.cli.worker.queues:{spec.name}", f"Process {spec.work}.")
        for spec in QUEUES
    },
}

RUNNING: Mapping[str, Lazy] = {
    "drain": Lazy("mailqueue.cli.worker.drain:drain", "Let workers claim nothing more."),
    "resume": Lazy("mailqueue.cli.worker.drain:resume", "Let drained workers claim again."),
}

# A worker that died is started again by this command: it loads its own kind and no other.
worker = LazyGroup(
    name="worker",
    sections={"Commands": COMMANDS, "Running workers": RUNNING},
    help="Run workers without `mailqueue up`, on any number of hosts.",
    epilog=examples("mailqueue worker send --processes 4", "mailqueue worker inbound"),
)

"""`mailqueue worker`: worker processes."""

from collections.abc import Mapping

from mailqueue.cli.commands import Lazy
from mailqueue.cli.main import LazyGroup
from mailqueue.cli.support.output import examples
from mailqueue.core.queues import QUEUES

COMMANDS: Mapping[str, Lazy] = {
    "send": Lazy("mailqueue.cli.worker.send:send", "Send queued emails."),
    "submission": Lazy(
        "mailqueue.cli.worker.submission:submission", "Accept emails from programs by SMTP."
    ),
    "bounces": Lazy(
        "mailqueue.cli.worker.bounces:bounces", "Receive bounce emails by SMTP and LMTP."
    ),
    "rabbitmq": Lazy(
        "mailqueue.cli.worker.rabbitmq:rabbitmq", "Take events from queues of RabbitMQ."
    ),
} | {
    spec.name: Lazy(f"mailqueue.cli.worker.queues:{spec.name}", f"Process {spec.work}.")
    for spec in QUEUES
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

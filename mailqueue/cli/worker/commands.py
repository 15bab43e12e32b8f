"""`mailqueue worker`: worker processes, one kind each."""

from collections.abc import Mapping

from mailqueue.cli.main import Lazy, LazyGroup
from mailqueue.cli.support.output import examples

COMMANDS: Mapping[str, Lazy] = {
    "send": Lazy("mailqueue.cli.worker.send:send", "Send queued emails."),
    "submission": Lazy(
        "mailqueue.cli.worker.submission:submission", "Accept emails from programs by SMTP."
    ),
    "inbound": Lazy(
        "mailqueue.cli.worker.inbound:inbound", "Process provider webhooks and bounce emails."
    ),
    "bounces": Lazy(
        "mailqueue.cli.worker.bounces:bounces", "Receive bounce emails by SMTP and LMTP."
    ),
    "webhooks": Lazy("mailqueue.cli.worker.webhooks:webhooks", "Deliver events to webhooks."),
}

# A worker that died is started again by this command: it loads its own kind and no other.
worker = LazyGroup(
    name="worker",
    lazy=COMMANDS,
    help="Run workers without `mailqueue up`, on any number of hosts.",
    epilog=examples("mailqueue worker send --processes 4"),
)

"""SERVICES: the processes that an installation runs, one row each.

The commands that start them, `mailqueue up`, the samples for containers and systemd and the login
of each are made from these rows or compared with them by tests; `mailqueue/wiring/services` runs
the listeners among them. `docs/adding/service.md` is the guide to adding one.
"""

from mailqueue.core.queues.registry import QUEUES
from mailqueue.core.services.model import InUp, OptionKind, Service, ServiceLogin, ServiceOption

_UPKEEP = ("maintenance", "erasures", "operations", "list-sends")
"""Queues whose workers need the rights of the schema's owner."""
_ELSEWHERE = ("inbound", "maintenance", "erasures", "operations", "custom-smtp")
"""Queues that another process than that of webhooks works on."""

_PUBLIC_PORT = ServiceOption(
    "--public-port",
    "public_port",
    "Port of its own for links in mail and webhooks of providers; 0 takes a free port."
    "  [MAILQUEUE_PUBLIC_PORT; with the API]",
    OptionKind.PORT,
)

SERVICES = (
    Service(
        name="api",
        command=("api",),
        summary="Run only the HTTP API.",
        login=ServiceLogin.API,
        in_up=InUp.PART,
        listener="mailqueue.wiring.services.web:api",
        help=(
            "Serve the HTTP API, links in mail and the pages of the mail trap until SIGTERM or "
            "Ctrl-C."
        ),
        examples=(
            "mailqueue api",
            "mailqueue api --port 8080 --no-trap",
            "mailqueue api --port 8080 --public-port 8081",
            "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue mailqueue api --port 0",
        ),
        options=(
            ServiceOption.host("host"),
            ServiceOption.port("port", 8025),
            _PUBLIC_PORT,
            ServiceOption(
                "--no-trap",
                "no_trap",
                "Do not serve the pages of the mail trap.  [MAILQUEUE_NO_TRAP]",
                OptionKind.FLAG,
            ),
        ),
        need="need_of_api",
        container="api",
        unit="mailqueue-api",
    ),
    Service(
        name="console",
        command=("console",),
        summary="Run only the web console.",
        login=ServiceLogin.API,
        in_up=InUp.PART,
        listener="mailqueue.wiring.services.web:console",
        help="Serve the web console at /console until SIGTERM or Ctrl-C.",
        examples=(
            "mailqueue console",
            "mailqueue console --port 8080",
            "MAILQUEUE_CONSOLE_URL=https://mail.example.com mailqueue console --host 0.0.0.0",
        ),
        options=(
            ServiceOption.host("console_host"),
            ServiceOption.port("console_port", 8081),
        ),
        fixed={"no_trap": True},
        container="console",
        unit="mailqueue-console",
    ),
    Service(
        name="trap",
        command=("trap", "serve"),
        summary="Run only the mail trap.",
        login=ServiceLogin.API,
        in_up=InUp.PART,
        listener="mailqueue.wiring.services.smtp:trap",
        help="Run only the mail trap, SMTP and web page, until SIGTERM or Ctrl-C.",
        examples=(
            "mailqueue trap serve",
            "MAILQUEUE_TRAP_PASSWORD=… mailqueue trap serve --host 0.0.0.0",
        ),
        options=(
            ServiceOption.host("host"),
            ServiceOption(
                "--port", "port", "HTTP port of the page.  [MAILQUEUE_PORT; 8025]", OptionKind.PORT
            ),
            ServiceOption(
                "--trap-port",
                "trap_port",
                "SMTP port.  [MAILQUEUE_TRAP_PORT; 1025]",
                OptionKind.PORT,
            ),
        ),
        fixed={"no_trap": False},
    ),
    Service(
        name="send",
        command=("worker", "send"),
        summary="Send queued emails.",
        login=ServiceLogin.WORKER,
        in_up=InUp.PART,
        container="workers",
        unit="mailqueue-worker",
    ),
    Service(
        name="submission",
        command=("worker", "submission"),
        summary="Accept emails from programs by SMTP.",
        login=ServiceLogin.API,
        in_up=InUp.BESIDE,
        listener="mailqueue.wiring.services.smtp:submission",
        help="Accept emails from programs by SMTP, with an API key as the password, until SIGTERM.",
        examples=(
            "mailqueue worker submission",
            "mailqueue worker submission --host 0.0.0.0 --port 587 --tls-port 465"
            " --certificate /etc/mailqueue/fullchain.pem --key /etc/mailqueue/privkey.pem",
        ),
        options=(
            ServiceOption.host("submission_host"),
            ServiceOption.port("submission_port", 2587),
            ServiceOption(
                "--tls-port",
                "submission_tls_port",
                "Port with implicit TLS; 0 takes a free port.  [MAILQUEUE_SUBMISSION_TLS_PORT]",
                OptionKind.PORT,
            ),
            ServiceOption(
                "--certificate",
                "submission_certificate",
                "File of the certificate chain.  [MAILQUEUE_SUBMISSION_CERTIFICATE]",
                OptionKind.FILE,
            ),
            ServiceOption(
                "--key",
                "submission_certificate_key",
                "File of the private key.  [MAILQUEUE_SUBMISSION_CERTIFICATE_KEY]",
                OptionKind.FILE,
            ),
        ),
        has_json=True,
        container="submission",
        unit="mailqueue-submission",
    ),
    Service(
        name="bounces",
        command=("worker", "bounces"),
        summary="Receive bounce emails by SMTP and LMTP.",
        login=ServiceLogin.WORKER,
        in_up=InUp.BESIDE,
        listener="mailqueue.wiring.services.smtp:bounces",
        help=(
            "Receive bounces by SMTP and LMTP, for the bounce domains of all projects, until "
            "SIGTERM.\n\n`mailqueue worker inbound` processes them."
        ),
        examples=(
            "mailqueue worker bounces",
            "mailqueue worker bounces --host 0.0.0.0 --port 25 --name bounces.example.com",
        ),
        options=(
            ServiceOption.host("bounces_host"),
            ServiceOption.port("bounces_port", 2526),
            ServiceOption(
                "--name",
                "bounces_name",
                "Host name in the SMTP greeting.  [MAILQUEUE_BOUNCES_NAME; the machine's name]",
            ),
        ),
        has_json=True,
        need="need_of_bounces",
        container="bounces",
        unit="mailqueue-bounces",
    ),
    Service(
        name="rabbitmq",
        command=("worker", "rabbitmq"),
        summary="Take events from queues of RabbitMQ.",
        login=ServiceLogin.WORKER,
        in_up=InUp.BESIDE,
        listener="mailqueue.wiring.services.rabbitmq:bridge",
        help=(
            "Take the messages of queues of RabbitMQ as events until SIGTERM.\n\n"
            "MAILQUEUE_RABBITMQ_URL names the broker, MAILQUEUE_RABBITMQ_QUEUES the queues. Any "
            "number of processes may run: one at a time takes the messages of a queue. "
            "`mailqueue worker publishing` publishes outboxes to RabbitMQ."
        ),
        examples=(
            "MAILQUEUE_RABBITMQ_URL=amqps://mailqueue:secret@rabbitmq.example.com/shop"
            " MAILQUEUE_RABBITMQ_QUEUES=mailqueue=shop mailqueue worker rabbitmq",
        ),
        needs=("rabbitmq_url", "rabbitmq_queues"),
        need="need_of_rabbitmq",
        container="rabbitmq-bridge",
        unit="mailqueue-rabbitmq",
    ),
    Service(
        name="idle",
        command=("worker", "idle"),
        summary="Wait for new mail of watched inboxes by IMAP IDLE.",
        login=ServiceLogin.WORKER,
        in_up=InUp.BESIDE,
        listener="mailqueue.wiring.services.inboxes:idle",
        help=(
            "Wait for new mail of watched inboxes by IMAP IDLE until SIGTERM.\n\n"
            "What arrives makes an inbox due at once; `mailqueue worker inboxes` scans it. Any "
            "number of processes may run: one at a time listens to an inbox."
        ),
        examples=("mailqueue worker idle",),
        need="need_of_idle",
        container="idle",
        unit="mailqueue-idle",
    ),
    Service(
        name="traces",
        command=("worker", "traces"),
        summary="Export traces of emails to a collector of OpenTelemetry.",
        login=ServiceLogin.WORKER,
        in_up=InUp.BESIDE,
        listener="mailqueue.wiring.services.traces:traces",
        help=(
            "Export attempts and events of emails as spans until SIGTERM.\n\n"
            "MAILQUEUE_TRACES_URL names the collector, which takes OTLP over HTTP in JSON. Any "
            "number of processes may run: one at a time exports."
        ),
        examples=("MAILQUEUE_TRACES_URL=http://127.0.0.1:4318/v1/traces mailqueue worker traces",),
        needs=("traces_url",),
        need="need_of_traces",
        container="traces",
        unit="mailqueue-traces",
    ),
    Service(
        name="inbound",
        command=("worker", "inbound"),
        summary="Process requests of providers and bounce mail.",
        login=ServiceLogin.WORKER,
        in_up=InUp.PART,
        container="inbound",
        unit="mailqueue-inbound",
    ),
    Service(
        name="webhooks",
        command=("worker", *(one.name for one in QUEUES if one.name not in _ELSEWHERE)),
        summary="Deliver events to webhooks, publish messages, run schedules and watch inboxes.",
        login=ServiceLogin.WORKER,
        in_up=InUp.PART,
        container="webhooks",
        unit="mailqueue-webhooks",
    ),
    Service(
        name="upkeep",
        command=("worker", *_UPKEEP),
        summary="Run maintenance, erasures and operations on many emails.",
        login=ServiceLogin.MIGRATE,
        in_up=InUp.PART,
        container="upkeep",
        unit="mailqueue-upkeep",
    ),
)

LISTENERS = tuple(one for one in SERVICES if one.listener is not None)
"""The services that a function of `mailqueue/wiring` runs; the others are workers."""


def service_named(name: str) -> Service:
    """Return the service of a name.

    Raises:
        KeyError: there is none.
    """
    for one in SERVICES:
        if one.name == name:
            return one
    raise KeyError(name)

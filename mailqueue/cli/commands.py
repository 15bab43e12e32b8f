"""Which commands there are, in the sections that `--help` shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from mailqueue.core.services.registry import LISTENERS


@dataclass(frozen=True, slots=True)
class Lazy:
    """The import path of a command, and its line in `--help`, shown without importing it."""

    target: str
    summary: str


def listener_commands(group: str | None = None) -> dict[str, Lazy]:
    """Return the commands of listeners: those of a group, or those that are in none."""
    words = [] if group is None else [group]
    return {
        one.command[-1]: Lazy(f"mailqueue.cli.services:{one.name}", one.summary)
        for one in LISTENERS
        if list(one.command[:-1]) == words
    }


# As `--help` shows them.
SECTIONS: Mapping[str, Mapping[str, Lazy]] = {
    "Run": {
        "up": Lazy("mailqueue.cli.up:up", "Run PostgreSQL, API, console, workers and mail trap."),
        **listener_commands(),
        "worker": Lazy("mailqueue.cli.worker.commands:worker", "Run only the workers."),
        "migrate": Lazy("mailqueue.cli.migrate:migrate", "Bring the database schema up to date."),
        "psql": Lazy("mailqueue.cli.psql:psql", "Open psql on mailqueue's database."),
    },
    "Send": {
        "send": Lazy("mailqueue.cli.sending.send:send", "Queue one email."),
        "enqueue": Lazy(
            "mailqueue.cli.sending.enqueue.commands:enqueue",
            "Queue an email for each line of a file.",
        ),
        "template": Lazy(
            "mailqueue.cli.templates.commands:template",
            "Write, preview and publish email templates.",
        ),
        "sender": Lazy(
            "mailqueue.cli.senders.commands:sender", "Add, change and test sender accounts."
        ),
        "route": Lazy(
            "mailqueue.cli.senders.route:route",
            "Route emails to accounts by category, tag or domain.",
        ),
    },
    "Follow emails": {
        "status": Lazy(
            "mailqueue.cli.status.commands:status",
            "Show queued and sent emails, accounts and workers.",
        ),
        "activity": Lazy(
            "mailqueue.cli.status.activity:activity",
            "Show response times, failures and emails a minute.",
        ),
        "stats": Lazy(
            "mailqueue.cli.analytics.commands:stats",
            "Show counts and rates, compare them with history.",
        ),
        "export": Lazy(
            "mailqueue.cli.analytics.exports:export",
            "Export emails, events, counts and more to files.",
        ),
        "ab-test": Lazy(
            "mailqueue.cli.analytics.ab_tests:ab_test",
            "Compare variants of an email by opens or clicks.",
        ),
        "find": Lazy(
            "mailqueue.cli.emails.find:find", "Find anything by an id, an address or a name."
        ),
        "why": Lazy("mailqueue.cli.emails.why:why", "Explain why an email or other work waits."),
        "email": Lazy(
            "mailqueue.cli.emails.commands:email", "Find, show, cancel, hold and resend emails."
        ),
        "operation": Lazy(
            "mailqueue.cli.emails.operations:operation",
            "Show and stop operations that workers carry out.",
        ),
        "event": Lazy(
            "mailqueue.cli.events.commands:event",
            "Show deliveries, bounces, complaints, opens and clicks.",
        ),
        "event-rule": Lazy(
            "mailqueue.cli.inbox.rules:event_rule",
            "Queue or cancel emails when a service reports an event.",
        ),
        "outbox": Lazy(
            "mailqueue.cli.publishing.outboxes:outbox",
            "Manage outboxes, whose messages are published in order.",
        ),
        "consumers": Lazy(
            "mailqueue.cli.stream.consumers:consumers",
            "Show what reads the stream of events, replay events.",
        ),
        "bridge": Lazy(
            "mailqueue.cli.bridge.commands:bridge",
            "Show queues of RabbitMQ, and replay dead letters.",
        ),
        "timed-event": Lazy(
            "mailqueue.cli.timed_events.events:timed_event",
            "Manage mail and webhook calls that are due at a time.",
        ),
        "birthday": Lazy(
            "mailqueue.cli.timed_events.birthdays:birthday",
            "Send mail or call a webhook on birthdays of contacts.",
        ),
        "schedule": Lazy(
            "mailqueue.cli.schedules.commands:schedule",
            "Send emails at a time, once or again and again.",
        ),
        "watch": Lazy(
            "mailqueue.cli.watch.commands:watch",
            "Notify persons in Slack of new mail in their inboxes.",
        ),
        "queue": Lazy(
            "mailqueue.cli.queues.commands:queue",
            "Show and requeue rows of the queues besides mail.",
        ),
        "resolve": Lazy(
            "mailqueue.cli.emails.resolve:resolve",
            "Decide whether emails with unknown outcome were sent.",
        ),
        "pause": Lazy(
            "mailqueue.cli.emails.pause:pause", "Pause a project, account, campaign or domain."
        ),
        "resume": Lazy("mailqueue.cli.emails.pause:resume", "End a pause."),
        "pauses": Lazy("mailqueue.cli.emails.pause:pauses", "List pauses, with end and reason."),
        "trap": Lazy(
            "mailqueue.cli.trap.commands:trap", "Show emails caught by the built-in mail trap."
        ),
    },
    "Recipients": {
        "contact": Lazy(
            "mailqueue.cli.contacts.contacts:contact",
            "Manage contacts: the persons that a project writes to.",
        ),
        "list": Lazy("mailqueue.cli.contacts.lists:list_", "Manage lists of contacts."),
        "suppression": Lazy(
            "mailqueue.cli.suppression.commands:suppression",
            "Manage the list of suppressed addresses.",
        ),
        "import": Lazy(
            "mailqueue.cli.imports.commands:import_",
            "Show imports that workers carry out.",
        ),
        "category": Lazy(
            "mailqueue.cli.suppression.categories:category",
            "Manage the email categories recipients can opt out of.",
        ),
        "sequence": Lazy(
            "mailqueue.cli.sequences.sequences:sequence",
            "Manage sequences of mails and the contacts in them.",
        ),
        "export-person": Lazy(
            "mailqueue.cli.privacy.export:export", "Print all data stored about a person."
        ),
        "erase": Lazy("mailqueue.cli.privacy.erase:erase", "Erase all data stored about a person."),
    },
    "Projects and access": {
        "project": Lazy(
            "mailqueue.cli.projects.commands:project", "Create and configure projects."
        ),
        "key": Lazy("mailqueue.cli.projects.key:key", "Create, rotate and revoke API keys."),
        "producer": Lazy(
            "mailqueue.cli.producers.commands:producer", "Bind database logins to projects."
        ),
        "user": Lazy("mailqueue.cli.users.commands:user", "Manage who logs in to the console."),
        "member": Lazy(
            "mailqueue.cli.users.member:member", "Manage who sees a project in the console."
        ),
        "admin": Lazy(
            "mailqueue.cli.admin.commands:admin", "Manage administrators of the HTTP API."
        ),
        "platform": Lazy(
            "mailqueue.cli.admin.platform:platform",
            "Change settings, flags and keys of the installation.",
        ),
    },
    "Domains and webhooks": {
        "domain": Lazy(
            "mailqueue.cli.domains.commands:domain", "Limit the sending rate to recipient domains."
        ),
        "dkim": Lazy(
            "mailqueue.cli.domains.dkim.commands:dkim", "Manage DKIM keys and check a domain's DNS."
        ),
        "tracking": Lazy(
            "mailqueue.cli.domains.tracking:tracking",
            "Check tracking domains and rotate tracking keys.",
        ),
        "webhook": Lazy(
            "mailqueue.cli.webhooks.commands:webhook",
            "Manage webhooks that send events to applications.",
        ),
    },
    "Check and maintain": {
        "doctor": Lazy(
            "mailqueue.cli.status.doctor:doctor", "Check the installation and suggest fixes."
        ),
        "verify": Lazy(
            "mailqueue.cli.status.verify:verify",
            "Check that emails and the audit log are complete.",
        ),
        "canary": Lazy(
            "mailqueue.cli.canaries.commands:canary",
            "Send small emails at an interval; their absence alerts.",
        ),
        "maintain": Lazy(
            "mailqueue.cli.maintenance.maintain:maintain",
            "Run maintenance: partitions, retention, archive.",
        ),
        "archive": Lazy(
            "mailqueue.cli.maintenance.archive:archive",
            "List, verify, read and restore archived records.",
        ),
        "restored": Lazy(
            "mailqueue.cli.maintenance.restored:restored",
            "Hold emails that may have been sent since a backup.",
        ),
        "vault": Lazy(
            "mailqueue.cli.vault.commands:vault",
            "Rotate encryption keys; manage customer-held keys.",
        ),
        "bench": Lazy(
            "mailqueue.cli.bench.commands:bench",
            "Measure how fast this database accepts and sends.",
        ),
    },
    "Shell": {
        "completion": Lazy(
            "mailqueue.cli.completion:completion", "Print the completion script of a shell."
        ),
    },
}

"""`mailqueue watch`: new mail of inboxes becomes messages in Slack."""

import click

from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import examples
from mailqueue.cli.watch.channels import channel
from mailqueue.cli.watch.inboxes import inbox
from mailqueue.cli.watch.muted import muted
from mailqueue.cli.watch.notifications import notification
from mailqueue.cli.watch.rules import rule
from mailqueue.cli.watch.users import user


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue watch user add ann@example.com",
        "mailqueue watch inbox list",
        "mailqueue watch notification list --status failed",
    ),
)
def watch() -> None:
    """Notify persons in Slack or WhatsApp of new mail in their inboxes."""


for _command in (user, inbox, channel, rule, muted, notification):
    watch.add_command(_command)

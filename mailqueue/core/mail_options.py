"""MAIL_OPTIONS: the options of an email beside recipient, subject and bodies, one row each.

`docs/adding/option.md` is the guide to adding one.
"""

from dataclasses import dataclass
from enum import StrEnum


class OptionType(StrEnum):
    """Type of an option's value in JSON."""

    STRING = "string"
    INSTANT = "instant"  # a string with a timestamp
    STRINGS = "strings"  # a list
    BOOLEAN = "boolean"
    WHOLE = "whole"  # a number; checked where the option is read
    OBJECT = "object"
    HEADERS = "headers"  # an object; NAME:VALUE on the command line
    FILES = "files"
    PRIORITY = "priority"  # a word, or 0 to 3


@dataclass(frozen=True, slots=True)
class MailOption:
    """One option of `mailqueue.enqueue`.

    `flag` is that of the command line, "" where it has none; `api` the field of `/v1/send`, where
    that is another word than `name`.
    """

    name: str
    type: OptionType
    flag: str = ""
    metavar: str | None = None
    help: str = ""
    api: str = ""
    column: str | None = ""
    """Column of email_queue; "" is the option's name, None is none that a producer writes."""

    @property
    def written_to(self) -> str | None:
        return self.name if self.column == "" else self.column


_S, _B = OptionType.STRING, OptionType.BOOLEAN
MAIL_OPTIONS = (
    MailOption(
        "sender",
        _S,
        "--sender",
        help="Name of the sender account to use.",
        api="smtp_config_id",
    ),
    MailOption(
        "from_email",
        _S,
        "--from",
        "ADDRESS",
        "From address, such as ann@example.com or 'Ann <ann@example.com>'.",
    ),
    MailOption("reply_to", _S, "--reply-to", "ADDRESS", "Reply-To address."),
    MailOption(
        "headers",
        OptionType.HEADERS,
        "--header",
        "NAME:VALUE",
        "Additional header; may be repeated.",
    ),
    MailOption(
        "priority",
        OptionType.PRIORITY,
        "--priority",
        "WORD",
        "Priority: critical, high, normal or low.",
    ),
    MailOption(
        "category", _S, "--category", "WORD", "Category: transactional, marketing or your own."
    ),
    MailOption("tags", OptionType.STRINGS, "--tag", help="Tag of the email; may be repeated."),
    MailOption("campaign_id", _S, "--campaign-id", help="Campaign that groups emails in reports."),
    MailOption(
        "run_at",
        OptionType.INSTANT,
        "--run-at",
        "INSTANT",
        "Earliest time to send, such as '2030-05-01 08:00+02'.",
        api="scheduled_at",
    ),
    MailOption(
        "expires_at",
        OptionType.INSTANT,
        "--expires-at",
        "INSTANT",
        "Time at which the email expires unsent.  [default: in 4 days]",
    ),
    MailOption(
        "custom_data",
        OptionType.OBJECT,
        "--custom-data",
        "JSON",
        "JSON object stored with the email.",
    ),
    MailOption(
        "max_attempts",
        OptionType.WHOLE,
        "--max-attempts",
        "N",
        "Maximum number of attempts, 1 to 1000.",
    ),
    MailOption("track_opens", _B, "--track-opens", help="Track opens."),
    MailOption("track_clicks", _B, "--track-clicks", help="Track clicks on links."),
    MailOption(
        "unsubscribe",
        _B,
        "--unsubscribe",
        help="Add an unsubscribe link and header.  [default: for marketing emails only]",
    ),
    MailOption(
        "delivery",
        _S,
        "--delivery",
        "WORD",
        "Action if the outcome is unknown: resend once, or hold for an operator.",
    ),
    # The commands have these in ways of their own, or not at all.
    MailOption("from_name", _S),
    MailOption("idempotency_key", _S),
    MailOption("to", OptionType.STRINGS, column="also_to"),
    MailOption("cc", OptionType.STRINGS),
    MailOption("bcc", OptionType.STRINGS),
    MailOption("attachments", OptionType.FILES),
    MailOption("template", _S),
    MailOption("language", _S),
    MailOption("variables", OptionType.OBJECT),
    MailOption("is_test", _B, column=None),
)

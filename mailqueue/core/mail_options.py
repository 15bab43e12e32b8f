"""MAIL_OPTIONS: what a mail may say beside its recipient, subject and bodies, one row each.

`docs/adding/option.md` is the guide to adding one.
"""

from dataclasses import dataclass
from enum import StrEnum


class OptionType(StrEnum):
    """What an option's value is in JSON."""

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
        help="The sender account to use, by its name.",
        api="smtp_config_id",
    ),
    MailOption("from_email", _S, "--from", "ADDRESS", "From: an address or Name <…>."),
    MailOption("reply_to", _S, "--reply-to", "ADDRESS", "Where answers go."),
    MailOption(
        "headers",
        OptionType.HEADERS,
        "--header",
        "NAME:VALUE",
        "A further header; may be repeated.",
    ),
    MailOption(
        "priority", OptionType.PRIORITY, "--priority", "WORD", "critical, high, normal or low."
    ),
    MailOption("category", _S, "--category", "WORD", "transactional, marketing, or your own."),
    MailOption("tags", OptionType.STRINGS, "--tag", help="May be repeated."),
    MailOption("campaign_id", _S, "--campaign-id", help="Groups mail for reports."),
    MailOption(
        "run_at",
        OptionType.INSTANT,
        "--run-at",
        "INSTANT",
        "Not before; like '2030-05-01 08:00+02'.",
        api="scheduled_at",
    ),
    MailOption(
        "expires_at",
        OptionType.INSTANT,
        "--expires-at",
        "INSTANT",
        "Give up then; 4 days unless given.",
    ),
    MailOption("custom_data", OptionType.OBJECT, "--custom-data", "JSON", "Kept with the mail."),
    MailOption("max_attempts", OptionType.WHOLE, "--max-attempts", "N", "1 to 1000."),
    MailOption("track_opens", _B, "--track-opens", help="Tell when it is opened."),
    MailOption("track_clicks", _B, "--track-clicks", help="Count links followed."),
    MailOption(
        "unsubscribe",
        _B,
        "--unsubscribe",
        help="Have a way to unsubscribe; marketing has one unless told otherwise.",
    ),
    MailOption(
        "delivery",
        _S,
        "--delivery",
        "WORD",
        "When nobody knows whether it arrived: resend once, or hold for a person.",
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

"""MAIL_OPTIONS: the options of an email apart from recipient, subject and bodies, one row each.

`docs/adding/option.md` is the guide to adding one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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


class Api(StrEnum):
    """An API of another provider whose clients can send through this one."""

    RESEND = "resend"
    POSTMARK = "postmark"
    SENDGRID = "sendgrid"
    MAILGUN = "mailgun"


@dataclass(frozen=True, slots=True)
class MailOption:
    """One option of `mailqueue.enqueue`.

    `flag`, `metavar` and `help` are those of the command line, "" where it has no such flag.
    """

    name: str
    type: OptionType
    flag: str = ""
    metavar: str | None = None
    help: str = ""
    api: str = ""
    """Field of `/v1/send`, if it differs from `name`."""
    api_help: str = ""
    """Description in the OpenAPI document; "" is a field that the schema declares by hand."""
    is_of_one: bool = False
    """Whether requests for many emails lack the field; each recipient may have a value there."""
    headers: tuple[str, ...] = ()
    """X-Mailqueue fields of a message handed in over SMTP, without the prefix."""
    compat: Mapping[Api, str] = field(default_factory=dict)
    """Field of another provider's API that has the same meaning and type."""
    column: str | None = ""
    """Column of email_queue; "" stands for the option's name, None for no column."""
    is_kept: bool = False
    """Whether email_history has the column too; others move to contents, recipients or lane."""
    max_characters: int | None = None
    """Longest value of a string in characters, checked when the email is accepted; None is a rule
    of its own in sql/functions/accept/prepare.sql.
    """

    @property
    def written_to(self) -> str | None:
        return self.name if self.column == "" else self.column

    @property
    def api_field(self) -> str:
        return self.api or self.name


_S, _B = OptionType.STRING, OptionType.BOOLEAN
MAIL_OPTIONS = (
    MailOption(
        "sender",
        _S,
        "--sender",
        help="Name of the sender account to use.",
        api="smtp_config_id",
        headers=("sender",),
        compat={Api.SENDGRID: "ip_pool_name", Api.MAILGUN: "o:sending-ip-pool"},
    ),
    MailOption(
        "from_email",
        _S,
        "--from",
        "ADDRESS",
        "From address, such as ann@example.com or 'Ann <ann@example.com>'.",
        api_help="From address, such as `Shop <shop@example.com>`; the default of the sender"
        " account or project if omitted.",
    ),
    MailOption(
        "reply_to",
        _S,
        "--reply-to",
        "ADDRESS",
        "Reply-To address.",
        api_help="Reply-To address, or several separated by commas; the project's default if"
        " omitted.",
    ),
    MailOption(
        "headers",
        OptionType.HEADERS,
        "--header",
        "NAME:VALUE",
        "Additional header; may be repeated.",
        api_help='Further headers by name, such as `{"X-Order": "81"}`: at most 100, none that'
        " mailqueue sets itself.",
    ),
    MailOption(
        "priority",
        OptionType.PRIORITY,
        "--priority",
        "WORD",
        "Priority: critical, high, normal or low.",
        api_help="`critical`, `high`, `normal` or `low`, or 0 to 3 in this order; `normal` if"
        " omitted. Higher priorities are sent first.",
        headers=("priority",),
        is_kept=True,
    ),
    MailOption(
        "category",
        _S,
        "--category",
        "WORD",
        "Category: transactional, marketing or your own.",
        headers=("category",),
        is_kept=True,
    ),
    MailOption(
        "tags",
        OptionType.STRINGS,
        "--tag",
        help="Tag of the email; may be repeated.",
        api_help="Tags to filter emails by: at most 20, of 1 to 128 characters.",
        headers=("tag", "tags"),
        is_kept=True,
    ),
    MailOption(
        "campaign_id",
        _S,
        "--campaign-id",
        help="Campaign that groups emails in reports.",
        api_help="Name for reports, such as `spring-sale`: at most 200 characters.",
        headers=("campaign-id", "campaign"),
        compat={Api.SENDGRID: "batch_id"},
        is_kept=True,
        max_characters=200,
    ),
    MailOption(
        "run_at",
        OptionType.INSTANT,
        "--run-at",
        "INSTANT",
        "Earliest time to send, such as 2030-05-01T08:00:00+02:00.",
        api="scheduled_at",
        api_help="Earliest time to send: RFC 3339 with offset, `2030-05-01T08:00:00+02:00`."
        " Sent now if omitted or in the past.",
        headers=("send-at",),
    ),
    MailOption(
        "expires_at",
        OptionType.INSTANT,
        "--expires-at",
        "INSTANT",
        "Time at which the email expires unsent, like --run-at.  [default: by its priority]",
        api_help="Time after which it is not sent: RFC 3339 with offset; if omitted, as long after"
        " `scheduled_at` as the project says for the priority.",
        headers=("expires-at",),
        is_kept=True,
    ),
    MailOption(
        "custom_data",
        OptionType.OBJECT,
        "--custom-data",
        "JSON",
        "JSON object stored with the email.",
        api_help="A JSON object stored with the email, up to 64 KiB.",
        is_of_one=True,
        headers=("custom-data",),
        is_kept=True,
    ),
    MailOption(
        "max_attempts",
        OptionType.WHOLE,
        "--max-attempts",
        "N",
        "Maximum number of attempts, 1 to 1000.",
        api_help="Maximum number of attempts, 1 to 1000; 100 if omitted.",
        headers=("max-attempts",),
        is_kept=True,
    ),
    MailOption(
        "track_opens",
        _B,
        "--track-opens",
        help="Track opens.",
        api_help="Track opens; the project's default if omitted.",
        compat={Api.POSTMARK: "TrackOpens", Api.MAILGUN: "o:tracking-opens"},
    ),
    MailOption(
        "track_clicks",
        _B,
        "--track-clicks",
        help="Track clicks on links.",
        api_help="Track clicks; the project's default if omitted.",
    ),
    MailOption(
        "unsubscribe",
        _B,
        "--unsubscribe",
        help="Add an unsubscribe link and header.  [default: for marketing only]",
        api_help="Add unsubscribe links and headers; if omitted, to marketing mail only, or as"
        " the project says.",
    ),
    MailOption(
        "delivery",
        _S,
        "--delivery",
        "WORD",
        "Action if the outcome is unknown: resend once, or hold for an operator.",
        api_help="What to do if it is unknown whether the server accepted the email: `resend`"
        " sends it again, `hold` waits for a decision. If omitted, `hold` for"
        " marketing, else `resend`.",
        headers=("delivery",),
        is_kept=True,
    ),
    # Options without a flag of their own.
    MailOption("from_name", _S, api_help="Name beside the From address."),
    MailOption(
        "idempotency_key",
        _S,
        headers=("idempotency-key",),
        is_kept=True,
    ),
    MailOption("to", OptionType.STRINGS, column="also_to"),
    MailOption("cc", OptionType.STRINGS),
    MailOption("bcc", OptionType.STRINGS),
    MailOption("attachments", OptionType.FILES),
    MailOption("template", _S),
    MailOption("language", _S),
    MailOption("variables", OptionType.OBJECT),
    MailOption("is_test", _B, column=None),
)

"""Validate requests of SendGrid's API before mails are built. Pure.

All errors are reported together. Unsupported options are refused by name.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain, islice

from mailqueue.api.compat.sendgrid.faults import (
    MAX_ERRORS,
    NO_ADDRESS,
    NO_CONTENT,
    NO_SUBJECT,
    RepeatedRecipient,
    SendGridRefused,
    Wrong,
)
from mailqueue.api.compat.sendgrid.model import (
    MAX_RECIPIENTS,
    Box,
    MailSetting,
    Personalization,
    SendGridMail,
    is_on,
)
from mailqueue.core.address import InvalidAddress, parse_address

MAX_HOURS = 72
MAX_CATEGORIES = 10
MAX_CATEGORY_CHARACTERS = 128
MAX_OWN_BYTES = 10_000
MAX_HEADERS = 1_000
_FINITE = 253_402_300_800  # the year 10000
_RESERVED = frozenset(
    {
        "x-sg-id",
        "x-sg-eid",
        "received",
        "dkim-signature",
        "content-type",
        "content-transfer-encoding",
        "to",
        "from",
        "subject",
        "reply-to",
        "cc",
        "bcc",
    }
)
TRACKED = {
    "open_tracking": "track_opens",
    "click_tracking": "track_clicks",
    "subscription_tracking": "unsubscribe",
}
"""Options of mail by the name of SendGrid's tracking settings."""
_TYPES = ("text/plain", "text/html")
_MAIL_SETTINGS = {
    "bcc": "name the recipient in a personalization",
    "bypass_bounce_management": "mail is never sent to suppressed addresses",
    "bypass_list_management": "mail is never sent to suppressed addresses",
    "bypass_spam_management": "mail is never sent to suppressed addresses",
    "bypass_unsubscribe_management": "mail is never sent to suppressed addresses",
    "footer": "put it into the content",
    "spam_check": "mail is not checked for spam here",
}


def check(mail: SendGridMail, now: datetime) -> None:
    """Raise SendGridRefused if fields of the right types have invalid values.

    Raises:
        SendGridRefused: with all errors.
    """
    found = (_words(mail), _senders(mail), _recipients(mail), _own(mail, now), _rest(mail))
    rest = (_files(mail), _settings(mail))
    wrongs = list(islice(chain(*found, *rest), MAX_ERRORS))  # at most so many in a response
    if wrongs:
        raise SendGridRefused(wrongs)


def _words(mail: SendGridMail) -> Iterator[Wrong]:
    if mail.template_id is not None:
        for n, each in enumerate(mail.personalizations):
            if each.substitutions:
                why = "With a template_id give dynamic_template_data in place of substitutions."
                yield Wrong(why, f"personalizations.{n}.substitutions")
        return
    if not mail.subject and not all(each.subject for each in mail.personalizations):
        yield Wrong(NO_SUBJECT, "subject")
    if not mail.content:
        yield Wrong(NO_CONTENT, "content")
    for n, each in enumerate(mail.personalizations):
        if each.dynamic_template_data:
            why = "dynamic_template_data needs a template_id."
            yield Wrong(why, f"personalizations.{n}.dynamic_template_data")
    kinds = [one.type.partition(";")[0].strip().lower() for one in mail.content]
    for n, kind in enumerate(kinds):
        if kind not in _TYPES:
            why = f"Only text/plain and text/html are supported, got {kind[:100]}."
            yield Wrong(why, f"content.{n}.type")
        elif kind in kinds[:n]:
            yield Wrong(f"{kind} may be given once.", f"content.{n}.type")
    if kinds[:2] == ["text/html", "text/plain"]:
        why = "If present, text/plain must be first, followed by text/html."
        yield Wrong(why, "content")


def _senders(mail: SendGridMail) -> Iterator[Wrong]:
    yield from _boxes("from", [mail.sender], is_list=False)
    for n, each in enumerate(mail.personalizations):
        if each.sender is not None:
            yield from _boxes(f"personalizations.{n}.from", [each.sender], is_list=False)
    if mail.reply_to is not None:
        yield from _boxes("reply_to", [mail.reply_to], is_list=False)
        if mail.reply_to_list:
            yield Wrong("Give either reply_to or reply_to_list.", "reply_to_list")
    yield from _boxes("reply_to_list", mail.reply_to_list or [])


def _recipients(mail: SendGridMail) -> Iterator[Wrong]:
    total = 0
    for n, each in enumerate(mail.personalizations):
        seen: set[str] = set()
        for kind, boxes in (("to", each.to), ("cc", each.cc), ("bcc", each.bcc)):
            total += len(boxes)
            yield from _boxes(f"personalizations.{n}.{kind}", boxes)
            for box in boxes:
                key = box.email.strip().lower()
                if key in seen:
                    yield RepeatedRecipient(
                        "Each email address in the personalization block should be unique between "
                        "to, cc, and bcc. We found the first duplicate instance of "
                        f"[{box.email[:320]}] in the personalizations.{n}.{kind} field.",
                        f"personalizations.{n}",
                    )
                    break
                seen.add(key)
    if total > MAX_RECIPIENTS:
        why = "There is a limit of 1000 total recipients (to + cc + bcc) per request."
        yield Wrong(why, "personalizations")


def _boxes(path: str, boxes: list[Box], *, is_list: bool = True) -> Iterator[Wrong]:
    for m, box in enumerate(boxes):
        at = f"{path}.{m}" if is_list else path
        try:
            parse_address(box.email)
        except InvalidAddress:
            yield Wrong(NO_ADDRESS, f"{at}.email")
        if box.name is not None and not box.name.isprintable():
            yield Wrong("A name may not contain control characters.", f"{at}.name")


def _own(mail: SendGridMail, now: datetime) -> Iterator[Wrong]:
    yield from _instant("send_at", mail.send_at, now)
    yield from _headers("headers", mail.headers)
    if len(mail.headers) > MAX_HEADERS or len(mail.custom_args) > MAX_OWN_BYTES:
        field = "headers" if len(mail.headers) > MAX_HEADERS else "custom_args"
        yield Wrong(f"There are too many {field}.", field)
        return  # every personalization includes them
    for n, each in enumerate(mail.personalizations):
        path = f"personalizations.{n}"
        yield from _instant(f"{path}.send_at", each.send_at, now)
        yield from _headers(f"{path}.headers", each.headers)
        yield from _sizes(path, mail, each)


def _instant(path: str, seconds: int | None, now: datetime) -> Iterator[Wrong]:
    if seconds is None:
        return
    if not 0 <= seconds < _FINITE:
        yield Wrong("A unix timestamp in seconds is needed.", path)
    elif seconds - now.timestamp() > MAX_HOURS * 3600:
        yield Wrong("Scheduling more than 72 hours in advance is forbidden.", path)


def _headers(path: str, headers: Mapping[str, str]) -> Iterator[Wrong]:
    for name in headers:
        if name.strip().lower() in _RESERVED:
            yield Wrong(f"The header {name[:100]} is reserved.", f"{path}.{name[:100]}")


def _sizes(path: str, mail: SendGridMail, each: Personalization) -> Iterator[Wrong]:
    for name, own in (
        ("custom_args", mail.custom_args | each.custom_args),
        ("substitutions", each.substitutions),
    ):
        size = sum(
            len(f"{key}{value or ''}".encode("utf-8", "replace")) for key, value in own.items()
        )
        if size >= MAX_OWN_BYTES:
            why = f"The total size of all {name} must be less than {MAX_OWN_BYTES} bytes."
            yield Wrong(why, f"{path}.{name}")


def _rest(mail: SendGridMail) -> Iterator[Wrong]:
    if len(mail.categories) > MAX_CATEGORIES:
        yield Wrong("There is a limit of 10 categories per request.", "categories")
    seen: set[str] = set()
    for n, category in enumerate(mail.categories):
        if not 1 <= len(category) <= MAX_CATEGORY_CHARACTERS:
            why = f"A category has 1 to {MAX_CATEGORY_CHARACTERS} characters here."
            yield Wrong(why, f"categories.{n}")
        elif category in seen:
            yield Wrong("The categories must be unique.", f"categories.{n}")
        seen.add(category)
    if mail.asm is not None and mail.asm.groups_to_display:
        why = "The categories shown to recipients are a setting of the project."
        yield Wrong(why, "asm.groups_to_display")
    if mail.asm is not None and not 0 <= mail.asm.group_id < 2**31:
        yield Wrong("A group id is a positive number.", "asm.group_id")


def _files(mail: SendGridMail) -> Iterator[Wrong]:
    for n, file in enumerate(mail.attachments):
        if file.disposition not in (None, "", "attachment", "inline"):
            why = "The disposition is inline or attachment."
            yield Wrong(why, f"attachments.{n}.disposition")
        elif file.disposition == "inline" and not file.content_id:
            yield Wrong("An inline attachment needs a content_id.", f"attachments.{n}.content_id")


def _settings(mail: SendGridMail) -> Iterator[Wrong]:
    for name, why in _MAIL_SETTINGS.items():
        if is_on(getattr(mail.mail_settings, name)):
            yield Wrong(f"This setting is not supported: {why}.", f"mail_settings.{name}.enable")
    tracking = mail.tracking_settings
    if is_on(tracking.ganalytics):
        why = "This setting is not supported: add the parameters to the links."
        yield Wrong(why, "tracking_settings.ganalytics.enable")
    for name in ("open_tracking", "subscription_tracking"):
        setting: MailSetting | None = getattr(tracking, name)
        if setting is not None and is_on(setting) and setting.get("substitution_tag"):
            path = f"tracking_settings.{name}.substitution_tag"
            yield Wrong("A substitution tag is not supported.", path)
    clicks = tracking.click_tracking
    if clicks is not None and is_on(clicks) and clicks.get("enable_text"):
        path = "tracking_settings.click_tracking.enable_text"
        yield Wrong("Links in plain text are not tracked.", path)
    subscription = tracking.subscription_tracking
    for part in ("text", "html"):
        if subscription is not None and is_on(subscription) and subscription.get(part):
            path = f"tracking_settings.subscription_tracking.{part}"
            yield Wrong("The text of the link cannot be set.", path)
    for group in ("mail_settings", "tracking_settings"):
        for name, given in getattr(mail, group):
            if given is not None and not isinstance(given.get("enable", False), bool | None):
                yield Wrong("true or false is needed.", f"{group}.{name}.enable")

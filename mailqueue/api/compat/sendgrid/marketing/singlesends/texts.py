"""The texts of a single send in Jinja. Pure.

{{first_name}} is a field of the contact, {{plan}} an attribute, {{Sender_Name}} what is said of the
sender, and {{{unsubscribe}}} the link of the mail.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from mailqueue.api.compat.handlebars.paths import UntranslatedTemplate
from mailqueue.api.compat.handlebars.translation import jinja_of
from mailqueue.api.compat.signatures import Signature
from mailqueue.core.errors import InvalidField
from mailqueue.templates.model import NewText

_FIELDS = ("first_name", "last_name", "email")
_OURS = frozenset({"contact", "unsubscribe_url", "preferences_url"})
_LINKS = {"unsubscribe": "unsubscribe_url", "unsubscribe_preferences": "preferences_url"}
_SENDER = {
    "Sender_Name": "name",
    "Sender_Address": "address",
    "Sender_City": "city",
    "Sender_State": "state",
    "Sender_Zip": "zip",
    "Sender_Country": "country",
}


def texts_of(mail: Mapping[str, Any], sender: Signature) -> NewText:
    """Return the texts of a single send in Jinja.

    Raises:
        InvalidField: the subject or the content is missing, or cannot be translated.
    """
    page, plain = mail.get("html_content"), mail.get("plain_content")
    if not mail.get("subject"):
        raise InvalidField("email_config.subject", "is needed to send it")
    if not page and not plain:
        raise InvalidField("email_config.html_content", "is needed to send it")
    if page and mail.get("generate_plain_content") is not False:
        plain = None  # made from the HTML of each mail
    named = naming(sender)

    def translated(name: str, text: str | None) -> str | None:
        return jinja_of(text, field=f"email_config.{name}", named=named) if text else None

    return NewText(
        translated("subject", mail["subject"]) or "",
        translated("html_content", page),
        translated("plain_content", plain),
    )


def naming(sender: Signature) -> Callable[[str], str]:
    """Return what gives the expressions of names in texts of a sender."""

    def named(name: str) -> str:
        if name in _OURS:
            return name
        if name in _LINKS:
            return _LINKS[name]
        if name in _SENDER:
            said = str(sender.settings.get(_SENDER[name], ""))
            return json.dumps(said, ensure_ascii=False)
        if name == "weblink":
            raise UntranslatedTemplate("'weblink' is not translated: mail has no page of its own")
        return f"contact.{name}" if name in _FIELDS else f"contact.attributes.{name}"

    return named

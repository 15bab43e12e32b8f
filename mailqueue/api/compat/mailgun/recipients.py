"""Recipients of a Mailgun request, and their variables in its texts. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mailqueue.api.compat.batch import Budget
from mailqueue.api.compat.mailboxes import mailbox, split_mailbox, split_mailboxes
from mailqueue.api.compat.mailgun.faults import (
    BadAddressParameter,
    BadJsonParameter,
    MissingParameter,
)
from mailqueue.api.compat.mailgun.form import Form
from mailqueue.api.compat.mailgun.options import object_of, written
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.shares import MAX_OF_MAIL, MAX_RECIPIENTS

MAX_BOX_CHARACTERS = 2_000_000
"""Most characters of all mailboxes of a field."""
MAX_CHARACTERS = 64 * 1024 * 1024
"""Most characters of all mails of a request, with variables inserted."""
PLACE = "{{ unsubscribe_url }}"
"""The placeholder of the unsubscribe link."""
TAG = "%recipient"
"""The prefix of the tags for recipients' variables."""
_TAG = re.compile(r"%recipient(?:\.([^%\r\n]{1,200})|_email)?%")
_UNSUBSCRIBE = re.compile(r"%(?:mailing_list_|tag_)?unsubscribe_(?:url|email)%")


@dataclass(frozen=True, slots=True)
class Recipients:
    """Recipients of a request; `variables` by address, None where all get one mail."""

    to: list[str]
    cc: list[str]
    bcc: list[str]
    variables: Mapping[str, Mapping[str, Any]] | None


def recipients_of(form: Form) -> Recipients:
    """Return the recipients of a request.

    Raises:
        InvalidField: an address is invalid, or there are too many recipients or none.
    """
    found = {name: mailboxes_of(form, name) for name in ("to", "cc", "bcc")}
    if not found["to"]:
        raise MissingParameter("to")
    if sum(map(len, found.values())) > MAX_RECIPIENTS:
        raise InvalidField("to", f"at most {MAX_RECIPIENTS} recipients")
    variables = _variables(form.one("recipient-variables"))
    if variables is not None:  # one copy for each address, however often it is listed
        if (copies := len(found["cc"]) + len(found["bcc"])) >= MAX_OF_MAIL:
            # Each of a thousand mails would be sent to all of them.
            why = f"with recipient-variables at most {MAX_OF_MAIL - 1} in cc and bcc, got {copies}"
            raise InvalidField("cc" if found["cc"] else "bcc", why)
        by_address: dict[str, str] = {}
        for one in found["to"]:
            by_address.setdefault(split_mailbox(one)[1].lower(), one)
        found["to"] = list(by_address.values())
    return Recipients(found["to"], found["cc"], found["bcc"], variables)


def mailboxes_of(form: Form, name: str) -> list[str]:
    """Return the mailboxes of a field, which may be repeated and hold lists.

    Raises:
        InvalidField: one has no address.
    """
    texts = form.all(name)
    if sum(map(len, texts)) > MAX_BOX_CHARACTERS:
        raise InvalidField(name, f"has more than {MAX_BOX_CHARACTERS} characters")
    boxes = [box for text in texts for box in split_mailboxes(text)]
    for box in boxes:
        check_mailbox(name, box)
    return boxes


def check_mailbox(name: str, box: str) -> None:
    """Raise InvalidField for a mailbox without an address.

    Raises:
        InvalidField: naming the field.
    """
    try:
        parse_address(split_mailbox(box)[1])
    except InvalidAddress:
        raise BadAddressParameter(name) from None


def sender_of(form: Form) -> str:
    """Return the From mailbox.

    Raises:
        InvalidField: there is none, or several.
    """
    given = form.all("from")
    if not given:
        raise MissingParameter("from")
    boxes = [box for text in given for box in split_mailboxes(text)]
    if len(boxes) > 1:
        # Mailgun accepts an unquoted name with a comma.
        boxes = [mailbox(_quoted(given[0]))] if len(given) == 1 else boxes
    if len(boxes) != 1:
        raise BadAddressParameter("from")
    check_mailbox("from", boxes[0])
    return boxes[0]


def _quoted(text: str) -> str:
    name, address = split_mailbox(text)
    return text if "@" in name or not name else f'"{name}" <{address}>'


def _variables(text: str | None) -> Mapping[str, Mapping[str, Any]] | None:
    if text is None:
        return None
    try:
        given = object_of("recipient-variables", text)
    except InvalidField:
        raise BadJsonParameter("recipient-variables") from None
    for address, values in given.items():
        if not isinstance(values, dict):
            why = f"an object of variables is needed for {address[:320]}"
            raise InvalidField("recipient-variables", why)
    return {address.strip().lower(): values for address, values in given.items()}


class VariableInserter:
    """Inserts a recipient's variables at their tags; unknown tags are left unchanged."""

    def __init__(self, address: str, values: Mapping[str, Any], budget: Budget) -> None:
        self._address, self._values, self._budget = address, values, budget

    def into(self, text: str, field: str) -> str:
        """Return a text with the values inserted.

        Raises:
            InvalidField: it would be too large.
        """
        if TAG not in text:
            return text

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name is not None and name not in self._values:
                return match[0]
            put = self._address if name is None else written(self._values[name])
            self._budget.take(len(put), field)
            return put

        self._budget.take(len(text), field)
        return _TAG.sub(value, text)

    def into_all(self, value: Any, field: str) -> Any:
        """Return a JSON value with the values inserted into all its texts."""
        match value:
            case str():
                return self.into(value, field)
            case list():
                return [self.into_all(one, field) for one in value]
            case dict():
                return {name: self.into_all(one, field) for name, one in value.items()}
        return value


def with_links(text: str | None, field: str) -> str | None:
    """Return a body with Mailgun's unsubscribe tag replaced by our placeholder.

    Raises:
        InvalidField: it has a tag of an unsupported link.
    """

    def link(match: re.Match[str]) -> str:
        if match[0] != "%unsubscribe_url%":
            raise InvalidField(field, f"{match[0]} is not supported")
        return PLACE

    return None if text is None else _UNSUBSCRIBE.sub(link, text)

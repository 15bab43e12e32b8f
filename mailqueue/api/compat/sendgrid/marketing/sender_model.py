"""Bodies of senders in SendGrid's API, and senders as it shows them. Values only."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from mailqueue.api.compat.signatures import Signature, address_of_signature
from mailqueue.api.emails.schema import StorableLine
from mailqueue.api.http.schema_base import StrictRequestModel

MAX_TEXT = 256
CHANGED_AT = "changed_at"
"""The time of the last change, in seconds since 1970."""
_Text = Annotated[StorableLine, Field(max_length=MAX_TEXT)]
_PLACE = {
    "address": "address",
    "address_2": "address2",
    "city": "city",
    "state": "state",
    "zip": "zip",
    "country": "country",
}
"""Fields of a postal address, and those of a verified sender."""


class SenderBox(StrictRequestModel):
    """The mailbox of a sender."""

    email: _Text | None = None
    name: _Text | None = None


class PlacedFields(StrictRequestModel):
    """What the bodies of both kinds of senders have: a name, and most of a postal address."""

    nickname: _Text | None = None
    address_1: _Text | None = Field(default=None, alias="address")
    city: _Text | None = None
    state: _Text | None = None
    zip: _Text | None = None
    country: _Text | None = None

    def placed(self, second_line: str | None) -> dict[str, str | None]:
        """Return what is stored of the name and the postal address. Pure."""
        return {
            "nickname": self.nickname,
            "address": self.address_1,
            "address_2": second_line,
            **{name: getattr(self, name) for name in ("city", "state", "zip", "country")},
        }


class SenderFields(PlacedFields):
    """The body of POST and PATCH of /v3/marketing/senders and /v3/senders."""

    sender: SenderBox | None = Field(default=None, alias="from")
    reply_to: SenderBox | None = None
    address_2: _Text | None = None

    @property
    def address(self) -> str | None:
        """Return the address that mail is from."""
        return None if self.sender is None else self.sender.email

    @staticmethod
    def field_of(name: str) -> str:
        """Return the path of a field of verified senders. Pure."""
        return {"from_email": "from.email", "reply_to": "reply_to.email"}[name]

    def settings(self) -> dict[str, str]:
        """Return what is stored of a sender, of the fields that are given.

        Raises:
            InvalidField: the reply address is none.
        """
        box, reply = self.sender or SenderBox(), self.reply_to or SenderBox()
        given = {
            "name": box.name,
            "reply_to": reply.email,
            "reply_to_name": reply.name,
            **self.placed(self.address_2),
        }
        return _checked(given, self.field_of("reply_to"))


class VerifiedSenderFields(PlacedFields):
    """The body of POST and PATCH of /v3/verified_senders."""

    from_email: _Text | None = None
    from_name: _Text | None = None
    reply_to: _Text | None = None
    reply_to_name: _Text | None = None
    address2: _Text | None = None

    @property
    def address(self) -> str | None:
        """Return the address that mail is from."""
        return self.from_email

    @staticmethod
    def field_of(name: str) -> str:
        """Return the path of a field: its name. Pure."""
        return name

    def settings(self) -> dict[str, str]:
        """Return what is stored of a sender, of the fields that are given.

        Raises:
            InvalidField: the reply address is none.
        """
        given = {
            "name": self.from_name,
            "reply_to": self.reply_to,
            "reply_to_name": self.reply_to_name,
            **self.placed(self.address2),
        }
        return _checked(given, "reply_to")


def sender_shown(number: int, one: Signature) -> dict[str, Any]:
    """Return a sender as /v3/marketing/senders and /v3/senders show it. Pure."""
    said = one.settings
    at = 0 if one.rule is None else int(one.rule.created_at.timestamp())
    return {
        "id": number,
        "nickname": _nickname(one),
        "from": {"email": one.address, "name": said.get("name", "")},
        "reply_to": {
            "email": said.get("reply_to") or one.address,
            "name": said.get("reply_to_name", ""),
        },
        **{name: said.get(name, "") for name in _PLACE},
        "verified": one.is_confirmed,
        "locked": False,
        "updated_at": said.get(CHANGED_AT, at),
        "created_at": at,
    }


def verified_sender_shown(number: int, one: Signature) -> dict[str, Any]:
    """Return a sender as /v3/verified_senders shows it. Pure."""
    said = one.settings
    return {
        "id": number,
        "nickname": _nickname(one),
        "from_email": one.address,
        "from_name": said.get("name", ""),
        "reply_to": said.get("reply_to") or one.address,
        "reply_to_name": said.get("reply_to_name", ""),
        **{theirs: said.get(name, "") for name, theirs in _PLACE.items()},
        "verified": one.is_confirmed,
        "locked": False,
    }


def _nickname(one: Signature) -> str:
    said: Mapping[str, Any] = one.settings
    return str(said.get("nickname") or said.get("name") or one.address)


def _checked(given: Mapping[str, str | None], reply_field: str) -> dict[str, str]:
    found = {name: text for name, text in given.items() if text is not None}
    if found.get("reply_to"):
        found["reply_to"] = address_of_signature(reply_field, found["reply_to"])
    return found

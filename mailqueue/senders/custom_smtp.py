"""Validate an SMTP server that a caller names for one mail; it is never stored. Pure."""

from dataclasses import dataclass, field

from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.senders.acceptable import checked
from mailqueue.senders.model import NewSender, Tls

FIELD = "smtp_override"
# The text for fields whose value must not be repeated.
_WHY_BY_SECRET = {
    "username": "must be printable, at most 998 characters, and come with a password",
    "password": "is needed with a username",
}


@dataclass(frozen=True, slots=True)
class CustomSmtpServer:
    """An SMTP server for one mail; its repr has neither user name nor password."""

    host: str
    port: int
    tls: Tls
    username: Secret = field(default=Secret(""))
    password: Secret = field(default=Secret(""))

    @property
    def hidden(self) -> tuple[Secret, ...]:
        """Return the texts that must not appear in any record, longest first."""
        both = [one for one in (self.username, self.password) if one]
        return tuple(sorted(both, key=lambda one: -len(one.reveal())))


def custom_smtp_server(
    *,
    host: str,
    port: int | None = None,
    tls: str = Tls.STARTTLS,
    username: Secret | None = None,
    password: Secret | None = None,
) -> CustomSmtpServer:
    """Return the server with defaults filled in, after the checks of stored accounts.

    Raises:
        InvalidField: the field is named smtp_override.host and so on; the text repeats no secret.
    """
    if tls not in list(Tls):
        raise InvalidField(f"{FIELD}.tls", f"must be one of {', '.join(Tls)}")
    given = NewSender(
        name="custom-smtp",
        host=host,
        port=port,
        tls=Tls(tls),
        username=username.reveal() if username else None,
        password=password or None,
    )
    try:
        ready = checked(given)
    except InvalidField as exc:
        why = _WHY_BY_SECRET.get(exc.field, exc.why)
        raise InvalidField(f"{FIELD}.{exc.field}", why) from None
    return CustomSmtpServer(
        host=ready.host or "",
        port=ready.port or 0,
        tls=ready.tls,
        username=username or Secret(""),
        password=password or Secret(""),
    )

"""The form of a first sender account, and the test email. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from mailqueue.console.keys.form import whole_number
from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import PROVIDERS, Provider
from mailqueue.core.secret import Secret
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.senders.model import NewSender, Tls
from mailqueue.senders.presets import PRESETS, Preset
from mailqueue.senders.providers import InvalidSetting
from mailqueue.web.forms import text_of

BY_API = "api:"
"""Begins the value of a provider that is used by its API; others are presets for SMTP."""
SETTING = "setting_"
"""Begins the name of a field that is a setting of a provider."""
TAG = "console-test"
"""Tag of test emails, by which the newest one is found again."""
TLS_CHOICES = (
    ("starttls", "STARTTLS (usual, port 587)"),
    ("implicit", "TLS from the start (port 465)"),
    ("none", "none (port 25, only within your network)"),
)
_APIS = tuple(one for one in PROVIDERS if one.has_api)


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """A provider that the form offers; `kind` selects the fields that it has."""

    value: str
    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class ProviderField:
    """A field for a setting of providers' APIs; `kinds` are the providers that have it."""

    name: str
    label: str
    kinds: tuple[str, ...]


def _setting_fields() -> tuple[ProviderField, ...]:
    names = dict.fromkeys(
        name for one in _APIS for name, kind in one.facts.settings.items() if kind is str
    )
    fields = []
    for name in names:
        having = [one for one in _APIS if name in one.facts.settings]
        of = ", ".join(
            one.facts.label + (", required" if name in one.facts.needed else "") for one in having
        )
        words = name.replace("_", " ").replace(" url", " URL")
        label = f"{words[:1].upper()}{words[1:]} ({of})"
        fields.append(ProviderField(f"{SETTING}{name}", label, tuple(map(str, having))))
    return tuple(fields)


CHOICES = (
    ProviderChoice("", "another SMTP server", "smtp"),
    *(ProviderChoice(name, f"{name} by SMTP", "smtp") for name in PRESETS),
    *(ProviderChoice(f"{BY_API}{one}", f"{one.facts.label} by API", str(one)) for one in _APIS),
)
SETTING_FIELDS = _setting_fields()
KINDS_WITH_USERNAME = ("smtp", *(str(one) for one in _APIS if one.facts.username))
API_KINDS = tuple(map(str, _APIS))
USERNAME_LABEL = "User name; " + "; ".join(
    f"with {one.facts.label} by API the {one.facts.username}" for one in _APIS if one.facts.username
)
SENDER_FIELDS = frozenset(
    {"name", "provider", "host", "port", "tls", "username", "password", "email", "api_url"}
    | {field.name for field in SETTING_FIELDS}
)
"""Fields of the form of an account."""
FIELDS = tuple(sorted(SENDER_FIELDS - {"password"}))
"""Fields that are kept when a session has ended; not the password."""


def new_sender(form: Mapping[str, str], *, is_private_ok: bool) -> NewSender:
    """Return the account that a form asks for; empty fields are those of its preset.

    Raises:
        InvalidField: a value is not one of those offered, or no number.
    """
    chosen = text_of(form, "provider")
    if chosen not in {choice.value for choice in CHOICES}:
        raise InvalidField("provider", "choose one of those offered")
    if chosen.startswith(BY_API):
        return _with_api(Provider(chosen.removeprefix(BY_API)), form, is_private_ok=is_private_ok)
    preset = PRESETS[chosen] if chosen else Preset()
    secured = text_of(form, "tls") or preset.tls
    if secured not in set(Tls):
        raise InvalidField("tls", "choose one of those offered")
    tls, port = Tls(secured), whole_number(form, "port")
    if port is None and tls is preset.tls:
        port = preset.port
    for name in ("api_url", *(field.name for field in SETTING_FIELDS)):
        if text_of(form, name):
            raise InvalidField(name, "has no meaning for an SMTP server")
    return NewSender(
        name=text_of(form, "name"),
        email=text_of(form, "email") or None,
        host=text_of(form, "host") or preset.host,
        port=port,
        tls=tls,
        username=text_of(form, "username") or preset.username,
        password=_secret(form),
        is_private_ok=is_private_ok,
        limits=preset.limits,
    )


def field_of(fault: InvalidField) -> str:
    """Return the name of the form's field that an error of an account is about."""
    if fault.field == "api_key":
        return "password"
    if isinstance(fault, InvalidSetting):
        return f"{SETTING}{fault.setting}"
    return fault.field


def _with_api(provider: Provider, form: Mapping[str, str], *, is_private_ok: bool) -> NewSender:
    settings = {
        field.name.removeprefix(SETTING): value
        for field in SETTING_FIELDS
        if (value := text_of(form, field.name))
    }
    return NewSender(
        name=text_of(form, "name"),
        provider=provider,
        email=text_of(form, "email") or None,
        host=text_of(form, "host") or None,
        port=whole_number(form, "port"),
        username=text_of(form, "username") or None,
        password=_secret(form),
        api_url=text_of(form, "api_url") or None,
        settings=settings or None,
        is_private_ok=is_private_ok,
    )


def _secret(form: Mapping[str, str]) -> Secret | None:
    password = form.get("password", "")
    return Secret(password) if password else None


def test_email(recipient: str, project: str) -> NewEmail:
    """Return the email that shows that the way from here to a mailbox works."""
    return NewEmail(
        recipient=recipient,
        subject=f"Test email of project {project}",
        text="This email was sent from the console. If you read it, sending works.\n",
        options={"category": "transactional", "priority": "high", "tags": [TAG]},
    )

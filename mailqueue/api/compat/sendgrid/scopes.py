"""The permissions of SendGrid's keys, by our scope. Pure.

One scope of ours permits what several of SendGrid's do. A key gets one only if those that change
the most are all asked for. It then has the others of that scope as well, which its answer shows:
reading and updating the settings of event webhooks gives `webhook:manage`, by which a key also
adds, removes and tries webhooks; `templates.*` changes versions, and `mail.send` scheduled mail.
"""

from collections.abc import Collection, Mapping, Sequence

from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import Scope

_WRITING = ("create", "update", "delete")
_ALL = ("create", "read", "update", "delete")
_STATS = ("browsers", "categories", "clients", "devices", "mailbox_providers")
_LISTS = ("blocks", "bounces", "invalid_emails", "spam_reports", "unsubscribes")
_TRACKING = ("tracking_settings.click", "tracking_settings.open")
_WEBHOOKS = "user.webhooks.event"


def _each(name: str, actions: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}.{action}" for action in actions)


NEEDED: Mapping[Scope, tuple[str, ...]] = {
    Scope.EMAIL_SEND: ("mail.send",),
    Scope.EMAIL_READ: ("messages.read",),
    Scope.TEMPLATE_READ: ("templates.read",),
    Scope.TEMPLATE_WRITE: _each("templates", _WRITING),
    Scope.ANALYTICS_READ: ("stats.read",),
    Scope.SUPPRESSION_MANAGE: (*_each("suppression", _ALL), *_each("asm.groups", _ALL)),
    Scope.WEBHOOK_MANAGE: _each(f"{_WEBHOOKS}.settings", ("read", "update")),
    Scope.PROJECT_READ: ("api_keys.read", "whitelabel.read"),
    Scope.PROJECT_WRITE: (*_each("api_keys", _WRITING), *_each("whitelabel", _WRITING)),
}
"""What has to be asked for, all of it, to get one of our scopes."""
BESIDE: Mapping[Scope, tuple[str, ...]] = {
    Scope.EMAIL_SEND: ("mail.batch.create", *_each("user.scheduled_sends", _WRITING)),
    Scope.EMAIL_READ: ("email_activity.read", "mail.batch.read", "user.scheduled_sends.read"),
    Scope.TEMPLATE_READ: ("templates.versions.read", "templates.versions.activate.read"),
    Scope.TEMPLATE_WRITE: (
        *_each("templates.versions", _WRITING),
        *_each("templates.versions.activate", _WRITING),
    ),
    Scope.ANALYTICS_READ: (
        *("categories.read", "categories.stats.sums.read", "stats.global.read"),
        *(f"{name}.stats.read" for name in _STATS),
    ),
    Scope.SUPPRESSION_MANAGE: (
        *(name for list_ in _LISTS for name in _each(f"suppression.{list_}", _ALL)),
        *_each("asm.groups.suppressions", _ALL),
        *_each("asm.suppressions.global", _ALL),
    ),
    Scope.PROJECT_READ: tuple(f"{name}.read" for name in _TRACKING),
    Scope.PROJECT_WRITE: tuple(f"{name}.update" for name in _TRACKING),
    Scope.WEBHOOK_MANAGE: (
        *_each(f"{_WEBHOOKS}.settings", ("create", "delete")),
        *_each(f"{_WEBHOOKS}.test", ("create", "read", "update")),
    ),
}
"""What may be asked for besides, and is then permitted as well."""


def names_of(scopes: Collection[str]) -> list[str]:
    """Return what a key with these scopes of ours may do, in SendGrid's words. Pure."""
    return [
        name
        for scope, needed in NEEDED.items()
        if scope in scopes
        for name in (*needed, *BESIDE.get(scope, ()))
    ]


def scopes_of(names: Collection[str]) -> frozenset[Scope]:
    """Return our scopes for a key that may do this. Pure.

    Raises:
        InvalidField: one is not known, or is granted only together with others.
    """
    found = {scope for scope, needed in NEEDED.items() if set(needed) <= set(names)}
    for name in names:
        owner = _owner_of(name)
        if owner is None:
            raise InvalidField("scopes", f"{name[:100]!r} is not a scope here")
        if owner not in found:
            missing = [each for each in NEEDED[owner] if each not in names]
            why = f"{name!r} is granted only together with {', '.join(missing)}"
            raise InvalidField("scopes", why)
    return frozenset(found)


def _owner_of(name: str) -> Scope | None:
    for scope, needed in NEEDED.items():
        if name in needed or name in BESIDE.get(scope, ()):
            return scope
    return None

"""What a login at an issuer grants: role and projects by the rules of the installation. Pure."""

import hashlib
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from mailqueue.admin.users.model import GrantedRole, Role
from mailqueue.ports.identity import IssuerIdentity
from mailqueue.settings.oidc import GroupRule

MAX_NAME_CHARACTERS = 100


def granted(values: Collection[str], rules: Sequence[GroupRule]) -> GrantedRole | None:
    """Return the highest role of the rules that fit, with the projects of all rules for that role.

    A lower role for other projects is left out: a user has one role, and must not get a higher one
    for a project than its rule says.
    """
    found = [rule for rule in rules if rule.value in values]
    for role in Role:  # the highest first
        fitting = [rule.projects for rule in found if rule.role == role]
        if fitting:
            names = {name for projects in fitting for name in projects}
            return GrantedRole(role, () if () in fitting else tuple(sorted(names)))
    return None


def names_of(identity: IssuerIdentity) -> list[str]:
    """Return names for a new user, the preferred one first; the last one is no one else's.

    A name that another user has does not lead to that user: the issuer's subject alone decides.
    """
    host = urlsplit(identity.issuer).hostname or identity.issuer
    first = (_plain(identity.called or "") or "user")[:40].strip()
    digest = hashlib.sha256(f"{identity.issuer} {identity.subject}".encode()).hexdigest()[:12]
    return [first, f"{first} ({_plain(host)[:40]})", f"{first} ({digest})"]


def _plain(text: str) -> str:
    """Return a text without what a name must not have."""
    return "".join(each if each.isprintable() and each != "/" else " " for each in text).strip()

"""The domains that a project sends from, and one of them: its keys and what DNS should have."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.domains import DkimKeyDetails, DkimKeyStatus
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.domains import checking
from mailqueue.domains import keys as dkim_keys
from mailqueue.domains.model import DkimKey, DomainCheck
from mailqueue.domains.values import key_of
from mailqueue.projects import manage as projects_manage
from mailqueue.senders import accounts
from mailqueue.senders.values import senders_of

PATH = "/console/projects/{project}/domains"
DOMAIN = f"{PATH}/{{domain}}"
DONE = {
    "checked": "DNS was looked up.",
    "added": "The key is made. Publish its record, then check.",
    "rotated": "A successor of each key is made. It signs as soon as its record is found.",
    "revoked": "The key is destroyed. Nothing is signed with it any more.",
    "before": "This was done before, and was not done again.",
}


class Readiness(StrEnum):
    """Whether email can be sent from a domain."""

    READY = "ready to send"
    INCOMPLETE = "records are missing"
    UNCHECKED = "not checked yet"
    UNSIGNED = "no key"


@dataclass(frozen=True, slots=True)
class DomainState:
    """A domain, its keys that are not destroyed, and its newest check."""

    name: str
    keys: tuple[DkimKey, ...]
    check: DomainCheck | None

    @property
    def readiness(self) -> Readiness:
        """Return whether email can be sent from it."""
        if self.check is not None:
            return Readiness.READY if self.check.is_good else Readiness.INCOMPLETE
        return Readiness.UNCHECKED if self.keys else Readiness.UNSIGNED

    @property
    def checked_at(self) -> datetime | None:
        """Return when DNS was looked up."""
        return None if self.check is None else self.check.checked_at


async def show_domains(context: PageContext) -> Response:
    """List the domains of keys and of From addresses, by name."""
    async with context.connection() as conn:
        found = await domains_of(context, conn)
    return context.page("domains/list.html", domains=found)


async def show_domain(context: PageContext) -> Response:
    """Show one domain: its keys with their records, and what the newest check found."""
    name = domain_in_path(context)
    async with context.connection() as conn:
        states = {state.name: state for state in await domains_of(context, conn)}
    state = states.get(name)
    if state is None:
        raise NotFound("domain", name)
    keys = [key_of(key) for key in state.keys]
    return context.page(
        "domains/domain.html",
        domain=state,
        keys=keys,
        is_rotatable=_is_rotatable(keys),
        has_ed25519=any(key.algorithm == "ed25519" for key in keys),
        done=DONE.get(context.query("done"), ""),
    )


async def domains_of(context: PageContext, conn: Conn) -> list[DomainState]:
    """Return the domains of a project's keys and From addresses, by name."""
    name = context.seen.name
    keys = [
        key
        for key in await dkim_keys.list_keys(conn, project=name)
        if key.status is not DkimKeyStatus.REVOKED
    ]
    checks = {check.domain: check for check in await checking.last_checks(conn, context.seen.id)}
    project = await projects_manage.find_by_id(conn, context.seen.id)
    senders = await senders_of(conn, name, await accounts.list_all(conn, project=name))
    addresses = (project.from_email, *(sender.from_email for sender in senders))
    named = {address.rpartition("@")[2].lower() for address in addresses if address}
    return [
        DomainState(domain, tuple(key for key in keys if key.domain == domain), checks.get(domain))
        for domain in sorted({key.domain for key in keys} | named | set(checks))
    ]


def domain_in_path(context: PageContext) -> str:
    """Return the domain in the path.

    Raises:
        NotFound: the value is not a domain.
    """
    given: str = context.request.path_params["domain"]
    try:
        return dkim_keys.domain_of(given)
    except InvalidField:
        raise NotFound("domain", given.replace("\0", "?")[:100]) from None


def _is_rotatable(keys: list[DkimKeyDetails]) -> bool:
    states = {key.status for key in keys}
    return DkimKeyStatus.ACTIVE in states and DkimKeyStatus.PENDING not in states


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_domains, menu=MenuEntry("Domains", "Sending")),
    ConsolePage("GET", DOMAIN, Right.READ, show_domain),
)

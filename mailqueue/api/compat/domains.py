"""The domains of a project for the compatible APIs: those that it has DKIM keys of.

A domain whose keys are all revoked is gone. Keys that were added elsewhere are shown too.
"""

from collections.abc import Sequence
from functools import partial

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, platform_key, unlocked
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.errors import InvalidField
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys, publication
from mailqueue.domains.model import DkimKey
from mailqueue.domains.publication import Publication
from mailqueue.domains.resolver import Resolver

_ALIVE = (DkimKeyStatus.PENDING, DkimKeyStatus.ACTIVE)


async def domains_of(call: RequestContext) -> list[list[DkimKey]]:
    """Return the keys of each domain that signs or waits for its record; the oldest domain, and the
    oldest key of each, first.
    """
    async with call.connection() as conn:
        found = await keys.list_keys(conn, project=call.caller.project)
    by_domain: dict[str, list[DkimKey]] = {}
    for one in sorted(found, key=lambda one: (one.created_at, one.id)):
        if one.status in _ALIVE:
            by_domain.setdefault(one.domain, []).append(one)
    return list(by_domain.values())


async def add_domain(
    call: RequestContext, name: str, *, selector: str | None = None
) -> list[DkimKey]:
    """Add a domain: a DKIM key, pending until its record is in DNS.

    Raises:
        InvalidField: the name is no domain (`domain`), or the selector is invalid.
        Conflict: the project has such a key of the domain.
    """
    algorithms = [Algorithm.RSA]
    master, own = platform_key(call), own_key_of(call.request)
    domain = keys.domain_of(name)
    made = await keys.new_keys(algorithms)
    async with call.connection() as conn, unlocked(call, own, conn):
        return await keys.create(
            conn,
            call.caller.project,
            domain=domain,
            algorithms=algorithms,
            selector=selector,
            master=master,
            by=call.by,
            made=made,
        )


async def add_key(
    call: RequestContext, name: str, *, selector: str, private: bytes | None = None
) -> DkimKey:
    """Add an RSA key of a domain, its first or the successor of the one that signs; `private` is
    its private key, or it is generated. It signs once its record is in DNS.

    Raises:
        InvalidField: the name is no domain (`domain`), the selector is invalid, or the domain signs
            by another algorithm than the key is of (`private`).
        Conflict: a key waits for its record, or had the selector.
    """
    master, own = platform_key(call), own_key_of(call.request)
    domain = keys.domain_of(name)
    made = await keys.new_keys([Algorithm.RSA]) if private is None else {Algorithm.RSA: private}
    async with call.connection() as conn, unlocked(call, own, conn):
        found = await keys.list_keys(conn, project=call.caller.project)
        signing = {
            one.algorithm
            for one in found
            if one.domain == domain and one.status is DkimKeyStatus.ACTIVE
        }
        if signing and private is not None and Algorithm.RSA not in signing:
            why = f"is an RSA key, and {domain} signs by {', '.join(sorted(signing))}"
            raise InvalidField("private", why)
        add = keys.rotate if signing else partial(keys.create, algorithms=[Algorithm.RSA])
        [key] = await add(
            conn,
            call.caller.project,
            domain=domain,
            selector=selector,
            master=master,
            by=call.by,
            made=made,
        )
    return key


async def look_up_domain(call: RequestContext, found: Sequence[DkimKey]) -> list[Publication]:
    """Look up the records of a domain now; a key whose record is found signs from then on."""
    looked = await publication.look_up(found, Resolver(call.settings.name_servers))
    async with call.connection() as conn:
        return await publication.settle(conn, looked, by=call.by)


async def remove_domain(call: RequestContext, found: Sequence[DkimKey]) -> None:
    """Remove a domain: its keys are revoked, all or none."""
    async with call.connection() as conn, conn.transaction():
        for one in found:
            await keys.revoke(
                conn, call.caller.project, domain=one.domain, selector=one.selector, by=call.by
            )


def is_verified(found: Sequence[DkimKey]) -> bool:
    """Return whether a key of a domain signs. Pure."""
    return any(one.status is DkimKeyStatus.ACTIVE for one in found)

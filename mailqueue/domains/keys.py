"""Operations on a domain's DKIM keys: create, rotate, activate, revoke."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import ConfigError, Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm, new_private_key, public_value
from mailqueue.domains import store
from mailqueue.domains.model import (
    ActiveKey,
    DkimKey,
    SigningProject,
)
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell

RETIREMENT = timedelta(days=7)
"""Time for which the record of a retired key must stay: mail may be in transit for days."""

MAX_SELECTORS = 100
_ALIVE = (DkimKeyStatus.PENDING, DkimKeyStatus.ACTIVE)


async def create(
    conn: Conn,
    project: str,
    *,
    domain: str,
    algorithms: Sequence[Algorithm],
    selector: str | None = None,
    master: MasterKey | None,
    by: str,
    made: Mapping[Algorithm, bytes] | None = None,
) -> list[DkimKey]:
    """Create the first keys of a domain, pending until their records are in DNS.

    `made` has private keys from `new_keys`, so that no connection is held while keys are generated.

    Raises:
        InvalidField: the domain or the selector is not valid.
        NotFound: the project does not exist.
        Conflict: the domain has a key of that type, or with that selector.
        ConfigError: there is no master key to seal it with.
    """
    domain = domain_of(domain)
    if selector is not None and len(algorithms) > 1:
        raise InvalidField("selector", "is for one key: create the keys one at a time")
    for one in await store.list_keys(conn, project, domain=domain):
        if one.algorithm in algorithms and one.status in _ALIVE:
            raise Conflict(
                f"{domain} has the {one.algorithm.key_type} key {one.selector} ({one.status}): "
                f"replace it with `mailqueue dkim rotate {domain}`"
            )
    return await _make(
        conn, project, domain, algorithms, selector=selector, master=master, by=by, made=made
    )


async def new_keys(algorithms: Iterable[Algorithm]) -> dict[Algorithm, bytes]:
    """Return a private key for each algorithm, generated in a thread (RSA takes 0.1 s and more)."""
    return {each: await asyncio.to_thread(new_private_key, each) for each in algorithms}


async def rotate(
    conn: Conn,
    project: str,
    *,
    domain: str,
    selector: str | None = None,
    master: MasterKey | None,
    by: str,
    made: Mapping[Algorithm, bytes] | None = None,
) -> list[DkimKey]:
    """Create a successor of each active key of a domain; it signs once its record is in DNS.

    `made` is as in `create`.

    Raises:
        InvalidField: the selector is not valid, or the domain has several active keys.
        NotFound: the domain has no active key.
        Conflict: a successor is already pending.
    """
    domain = domain_of(domain)
    found = await store.list_keys(conn, project, domain=domain)
    pending = [key.selector for key in found if key.status is DkimKeyStatus.PENDING]
    if pending:
        raise Conflict(
            f"{domain} has a key that waits for its record ({', '.join(pending)}): publish it and "
            f"run `mailqueue dkim verify {domain}`, or revoke it"
        )
    algorithms = [key.algorithm for key in found if key.status is DkimKeyStatus.ACTIVE]
    if not algorithms:
        raise NotFound("active DKIM key of", f"{domain} in project {project}")
    if selector is not None and len(algorithms) > 1:
        raise InvalidField("selector", f"is for one key, and {domain} has {len(algorithms)}")
    return await _make(
        conn, project, domain, algorithms, selector=selector, master=master, by=by, made=made
    )


async def list_keys(
    conn: Conn, *, project: str | None = None, domain: str | None = None
) -> list[DkimKey]:
    """Return keys, oldest first; None stands for all projects or domains.

    Raises:
        NotFound: the project does not exist, or has no key of that domain.
    """
    name = None if domain is None else domain_of(domain)
    if project is not None:
        await get_project(conn, project)
    found = await store.list_keys(conn, project, domain=name)
    if name is not None and not found:
        raise NotFound("DKIM key of", f"{name}: create one with `mailqueue dkim add {name}`")
    return found


async def get(conn: Conn, project: str, *, key_id: UUID) -> DkimKey:
    """Return a key of a project by its id.

    Raises:
        NotFound: the project has no key with that id.
    """
    for key in await store.list_keys(conn, project, domain=None):
        if key.id == key_id:
            return key
    raise NotFound("DKIM key", key_id)


async def activate(
    conn: Conn, keys: Sequence[DkimKey], *, keep: timedelta = RETIREMENT, by: str, seen: bool
) -> None:
    """Activate these pending keys and retire their predecessors."""
    async with conn.transaction():
        for key in keys:
            if await store.activate(conn, key, keep=keep):
                await store.note(
                    conn,
                    key.project_id,
                    by=by,
                    action="dkim.activated",
                    subject=key.name,
                    seen=seen,
                )


async def revoke(conn: Conn, project: str, *, domain: str, selector: str, by: str) -> DkimKey:
    """Destroy a private key; it cannot be restored.

    Raises:
        NotFound: the key does not exist.
    """
    domain = domain_of(domain)
    async with conn.transaction():
        for key in await store.list_keys(conn, project, domain=domain):
            if key.selector == selector:
                if await store.revoke(conn, key.id):
                    await store.note(
                        conn, key.project_id, by=by, action="dkim.revoked", subject=key.name
                    )
                break
        else:
            raise NotFound("DKIM key", f"{selector} of {domain} in project {project}")
    found = await store.list_keys(conn, project, domain=domain)
    return next(key for key in found if key.selector == selector)


async def require(conn: Conn, project: str, *, is_required: bool, by: str) -> SigningProject:
    """Set whether mail of a project must be signed: if so, unsigned mail waits.

    Raises:
        NotFound: the project does not exist.
    """
    async with conn.transaction():
        found = await get_project(conn, project)
        await store.set_required(conn, found.id, is_required=is_required)
        if found.is_dkim_required != is_required:
            action = "dkim.required" if is_required else "dkim.not_required"
            await store.note(conn, found.id, by=by, action=action, subject=f"project {project}")
        return await get_project(conn, project)


async def get_project(conn: Conn, project: str) -> SigningProject:
    """Return a project by its name.

    Raises:
        NotFound: the project does not exist.
    """
    found = await store.find_project(conn, project)
    if found is None:
        raise NotFound("project", project)
    return found


def domain_of(text: str) -> str:
    """Return a domain in A-labels and lower case.

    Raises:
        InvalidField: it is not the domain of an address.
    """
    try:
        return parse_address(f"postmaster@{text.strip().rstrip('.')}").domain
    except InvalidAddress:
        raise InvalidField("domain", f"{text[:100]!r} is not the domain of an address") from None


async def _make(
    conn: Conn,
    project: str,
    domain: str,
    algorithms: Sequence[Algorithm],
    *,
    selector: str | None,
    master: MasterKey | None,
    by: str,
    made: Mapping[Algorithm, bytes] | None,
) -> list[DkimKey]:
    owner = await get_project(conn, project)
    if master is None:
        raise ConfigError(
            "private keys are stored sealed, and there is no master key: set "
            "MAILQUEUE_MASTER_KEY, or run `mailqueue up`, which creates one in the data folder"
        )
    if selector is not None:
        _check_selector(selector)
    had = dict(made or {})
    private_keys = had | await new_keys(each for each in algorithms if each not in had)
    async with conn.transaction():
        taken = {key.selector for key in await store.list_keys(conn, project, domain=domain)}
        ids = set()
        for algorithm in algorithms:
            private = private_keys[algorithm]
            name = selector or _free_selector(algorithm, taken)
            taken.add(name)
            key_id = uuid4()
            place = SealedCell(owner.id, "dkim_keys", "private_key", key_id)
            sealed = await vault.seal(conn, master, place=place, plaintext=private)
            key = ActiveKey(key_id, domain, name, algorithm, sealed)
            await store.add_key(conn, key, project_id=owner.id, public_key=public_value(private))
            ids.add(key_id)
        found = await store.list_keys(conn, project, domain=domain)
        mine = [key for key in found if key.id in ids]
        for each in mine:
            await store.note(conn, owner.id, by=by, action="dkim.created", subject=each.name)
    return mine


def _check_selector(selector: str) -> None:
    is_label = selector.replace("-", "").isalnum() and selector.isascii()
    if not is_label or selector != selector.lower().strip("-") or len(selector) > 63:
        raise InvalidField(
            "selector",
            f"must be 1 to 63 lower-case letters, digits and hyphens, got {selector[:100]!r}",
        )


def _free_selector(algorithm: Algorithm, taken: set[str]) -> str:
    stem = f"mq{datetime.now(UTC):%Y%m%d}-{algorithm.key_type}"
    for number in range(1, MAX_SELECTORS):
        name = stem if number == 1 else f"{stem}-{number}"
        if name not in taken:
            return name
    raise Conflict(f"there are already {MAX_SELECTORS} keys named {stem}: choose a selector")

"""DKIM keys and domain checks as rows; the only file here that runs SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.db.statements import domains as sql
from mailqueue.domains.findings import DomainFindings
from mailqueue.domains.model import ActiveKey, DkimKey, DomainCheck, SigningProject


async def find_project(conn: Conn, project: str) -> SigningProject | None:
    """Return a project by its name, or None."""
    return await maybe(conn, sql.FIND_SIGNING_PROJECT, {"project": project}, SigningProject)


async def set_required(conn: Conn, project_id: UUID, *, is_required: bool) -> None:
    """Set whether mail of a project must be signed."""
    await run(conn, sql.SET_DKIM_REQUIRED, {"project_id": project_id, "is_required": is_required})


async def is_required(conn: Conn, project_id: UUID) -> bool:
    """Return whether mail of a project must be signed."""
    return await value(conn, sql.IS_DKIM_REQUIRED, {"project_id": project_id}, bool)


async def add_key(conn: Conn, key: ActiveKey, *, project_id: UUID, public_key: str) -> None:
    """Insert a new key, pending.

    Raises:
        Conflict: the domain has a key with that selector.
    """
    params = {
        "id": key.id,
        "project_id": project_id,
        "domain": key.domain,
        "selector": key.selector,
        "algorithm": key.algorithm,
        "public_key": public_key,
        "private_key": key.private_key,
    }
    try:
        await run(conn, sql.ADD_DKIM_KEY, params)
    except UniqueViolation as exc:
        raise Conflict(
            f"{key.domain} has or had a key with selector {key.selector}: choose another"
        ) from exc


async def list_keys(conn: Conn, project: str | None, *, domain: str | None) -> list[DkimKey]:
    """Return keys, oldest first; None stands for all projects or domains."""
    return await many(conn, sql.LIST_DKIM_KEYS, {"project": project, "domain": domain}, DkimKey)


async def list_active(conn: Conn, project_id: UUID) -> list[ActiveKey]:
    """Return the active keys of a project, RSA before Ed25519."""
    return await many(conn, sql.LIST_KEYS_IN_FORCE, {"project_id": project_id}, ActiveKey)


async def activate(conn: Conn, key: DkimKey, *, keep: timedelta) -> bool:
    """Activate a pending key; return False if it was not pending."""
    others = {
        "project_id": key.project_id,
        "domain": key.domain,
        "algorithm": key.algorithm,
        "keep": keep,
    }
    await run(conn, sql.RETIRE_DKIM_KEYS, others)
    return await run(conn, sql.ACTIVATE_DKIM_KEY, {"id": key.id}) > 0


async def note_seen(conn: Conn, keys: Sequence[DkimKey]) -> None:
    """Store that these keys were found in DNS."""
    await run(conn, sql.NOTE_KEYS_SEEN, {"ids": [key.id for key in keys]})


async def revoke(conn: Conn, key_id: UUID) -> bool:
    """Destroy a private key; return False if it was already revoked."""
    return await run(conn, sql.REVOKE_DKIM_KEY, {"id": key_id}) > 0


async def note(
    conn: Conn, project_id: UUID, *, by: str, action: str, subject: str, **detail: object
) -> None:
    """Insert an audit record of a change."""
    params = {
        "project_id": project_id,
        "by": by,
        "action": action,
        "subject": subject,
        "detail": Jsonb(detail),
    }
    await run(conn, sql.NOTE_DKIM_CHANGE, params)


async def record_check(
    conn: Conn,
    project_id: UUID,
    *,
    domain: str,
    is_good: bool,
    findings: Sequence[Mapping[str, object]],
) -> None:
    """Store the findings about a domain."""
    params = {
        "project_id": project_id,
        "domain": domain,
        "is_good": is_good,
        "findings": Jsonb(list(findings)),
    }
    await run(conn, sql.RECORD_DOMAIN_CHECK, params)


async def record_checks(conn: Conn, found: Sequence[tuple[UUID, DomainFindings]]) -> None:
    """Store the findings about domains, each of the project with that id."""
    params = {
        "projects": [project_id for project_id, _ in found],
        "domains": [each.domain for _, each in found],
        "are_good": [each.is_good for _, each in found],
        "findings": [Jsonb([asdict(one) for one in each.findings]) for _, each in found],
    }
    await run(conn, sql.RECORD_DOMAIN_CHECKS, params)


async def list_keys_of(conn: Conn, domains: Sequence[tuple[UUID, str]]) -> list[DkimKey]:
    """Return the keys that have or had a record, of these domains of projects."""
    asked = {
        "projects": [project_id for project_id, _ in domains],
        "domains": [domain for _, domain in domains],
    }
    return await many(conn, sql.LIST_KEYS_OF_DOMAINS, asked, DkimKey)


async def list_last_checks(
    conn: Conn, project_id: UUID, *, domain: str | None = None
) -> list[DomainCheck]:
    """Return the newest check of each domain of a project, or of one."""
    asked = {"project_id": project_id, "domain": domain}
    return await many(conn, sql.LIST_LAST_DOMAIN_CHECKS, asked, DomainCheck)

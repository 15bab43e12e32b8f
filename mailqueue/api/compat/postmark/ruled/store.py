"""Rules of a project that compatible APIs manage: Postmark's signatures, tag triggers and inbound
rules, Resend's contact properties, events and automations, and Mailgun's descriptions of tags.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.api.http.context import RequestContext
from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.projects import rules as sql
from mailqueue.webhooks.formats.values import number_of


class RuleKind(StrEnum):
    """What a rule is about."""

    SENDER = "sender_signature"
    TAG = "tag_trigger"
    INBOUND = "inbound_rule"
    PROPERTY = "contact_property"
    EVENT = "event_definition"
    AUTOMATION = "automation"
    DESCRIPTION = "tag_description"


@dataclass(frozen=True, slots=True)
class ProjectRule:
    """A rule; the subject is an address, a tag, an address or domain, an attribute, an event, or
    the sequence of an automation.
    """

    id: UUID
    kind: str
    subject: str
    settings: dict[str, Any]

    @property
    def created_at(self) -> datetime:
        """Return when it was added: the first 48 bits of its id, in milliseconds."""
        return datetime.fromtimestamp((self.id.int >> 80) / 1000, UTC)

    @property
    def number(self) -> int:
        """Return the id that Postmark's clients know it by."""
        return number_of(self.id)


async def list_rules(
    conn: Conn, project_id: UUID, kind: RuleKind | None, subjects: Iterable[str] | None = None
) -> list[ProjectRule]:
    """Return the rules of a kind, or of all kinds, by their subject, or those about some
    subjects.
    """
    asked = {
        "project_id": project_id,
        "kind": None if kind is None else kind.value,
        "subjects": None if subjects is None else list(subjects),
    }
    return await many(conn, sql.LIST_PROJECT_RULES, asked, ProjectRule)


async def rule_of_number(call: RequestContext, kind: RuleKind, number: str) -> ProjectRule | None:
    """Return the rule of the caller's project that a path names by its number."""
    async with call.connection() as conn:
        found = await list_rules(conn, call.caller.project_id, kind)
    return next((one for one in found if str(one.number) == number), None)


async def put_rule(
    call: RequestContext,
    kind: RuleKind,
    subject: str,
    settings: dict[str, Any],
    *,
    rule_id: UUID | None = None,
) -> ProjectRule | None:
    """Add a rule, or change one; return None where another rule has the subject.

    Raises:
        InvalidField: the subject is too long, or the project has as many as it may have (`rules`).
    """
    asked = {
        "project_id": call.caller.project_id,
        "kind": kind.value,
        "subject": subject,
        "settings": Jsonb(settings),
        "id": rule_id,
        "by": call.by,
    }
    async with call.connection() as conn:
        with refusals(otherwise="subject"):
            async with conn.transaction():
                return await maybe(conn, sql.PUT_PROJECT_RULE, asked, ProjectRule)


async def remove_rule(call: RequestContext, kind: RuleKind, one: ProjectRule) -> None:
    """Remove a rule; one that is gone already stays so."""
    asked = {
        "project_id": call.caller.project_id,
        "kind": kind.value,
        "id": one.id,
        "by": call.by,
    }
    async with call.connection() as conn:
        await value(conn, sql.REMOVE_PROJECT_RULE, asked, bool)

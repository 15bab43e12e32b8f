"""The details of an audit event as readable lines, and the page of the object it names. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.projects import AuditEvent


@dataclass(frozen=True, slots=True)
class DetailLine:
    """One detail; `was` is the text before a change, None where nothing was replaced."""

    name: str
    text: str
    was: str | None = None


def lines_of(detail: object) -> list[DetailLine]:
    """Return the details of an event; of settings before and after, only those that changed."""
    if not isinstance(detail, Mapping):
        return [] if detail in (None, {}) else [DetailLine("detail", _text(detail))]
    before, after = detail.get("before"), detail.get("after")
    lines: list[DetailLine] = []
    told: set[str] = set()
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        told |= {"before", "after"}
        lines += (
            DetailLine(name, _text(after.get(name)), _text(before.get(name)))
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        )
    if "from" in detail and "to" in detail:
        told |= {"from", "to"}
        lines.append(DetailLine("value", _text(detail["to"]), _text(detail["from"])))
    lines += (DetailLine(name, _text(value)) for name, value in detail.items() if name not in told)
    return lines


def object_path(event: AuditEvent) -> str | None:
    """Return the path of the page of the object; None where there is none."""
    kind, _, name = event.subject.partition(" ")
    if event.project is None:
        return "/console/users" if kind == "user" else None
    if event.action.startswith("api_key.") and (key := _id(event.detail, "id")) is not None:
        return project_path(event.project, "keys", key)
    if kind == "project" and name == event.project and not event.action.startswith("emails."):
        return project_path(event.project, "overview")
    if kind == "sender":
        return project_path(event.project, "senders")
    if kind == "email" and _is_id(name):
        return project_path(event.project, "emails", name)
    if event.action.startswith("emails.") and (email := _only_id(event.detail)) is not None:
        return project_path(event.project, "emails", email)
    return None


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(each, (list, dict)) for each in value):
        return ", ".join(_text(each) for each in value) or "none"
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return str(value)


def _only_id(detail: object) -> str | None:
    ids = detail.get("ids") if isinstance(detail, Mapping) else None
    return str(ids[0]) if isinstance(ids, list) and len(ids) == 1 and _is_id(ids[0]) else None


def _id(detail: object, name: str) -> str | None:
    found = detail.get(name) if isinstance(detail, Mapping) else None
    return str(found) if _is_id(found) else None


def _is_id(value: object) -> bool:
    try:
        UUID(str(value))
    except ValueError:
        return False
    return True

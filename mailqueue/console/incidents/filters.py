"""The form of an operation as its URL has it: what is done, and the emails that match. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mailqueue.contract.background import BackgroundOperation
from mailqueue.operations.background import OperationVerb
from mailqueue.operations.model import PRIORITIES
from mailqueue.web.forms import text_of

CONDITIONS = ("subject", "campaign_id", "sender", "tag", "domain", "lane", "category")
"""The conditions that the form offers."""
NAMES = ("verb", *CONDITIONS, "to", "reason")
LABELS: Mapping[str, str] = {
    "subject": "subject contains",
    "campaign_id": "campaign",
    "tag": "tag",
    "domain": "domain",
    "lane": "priority",
    "category": "category",
    "sender": "sender account",
    "batch": "batch",
    "status": "status",
    "older_than": "older than",
    "newer_than": "newer than",
    "to": "to the sender account",
}
"""How a page names each condition of an operation, those of the API and the commands too."""


@dataclass(frozen=True, slots=True)
class OperationForm:
    """What was typed, and what is wrong with it by field."""

    typed: Mapping[str, str]
    verb: OperationVerb
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def where(self) -> Mapping[str, str]:
        """Return the conditions that are given."""
        return {name: self.typed[name] for name in CONDITIONS if self.typed[name]}

    @property
    def to(self) -> str | None:
        """Return the sender account of a move; None: any, and for other operations."""
        return self.typed["to"] or None if self.verb is OperationVerb.MOVE else None

    @property
    def query(self) -> Mapping[str, str]:
        """Return what is given and used, for the form that begins the operation."""
        return {**self.where, **({"to": self.to} if self.to else {})}

    @property
    def has_more(self) -> bool:
        """Return whether a condition is given that the form shows on demand."""
        return bool(self.where.keys() - {"subject"})


def read_operation(given: Mapping[str, str], verb: OperationVerb | None = None) -> OperationForm:
    """Return the form of a query or a form; `verb` None: the one that was chosen."""
    typed = {name: text_of(given, name) for name in NAMES}
    chosen = typed["verb"] or OperationVerb.HOLD
    faults = dict[str, str]()
    if verb is None and chosen not in set(OperationVerb):
        faults["verb"], chosen = "Must be one of those shown.", OperationVerb.HOLD
    if typed["lane"] and typed["lane"] not in PRIORITIES:
        faults["lane"] = "Must be one of those shown."
    used = OperationVerb(chosen) if verb is None else verb
    return OperationForm(typed | {"verb": used.value}, used, faults)


def conditions_of(operation: BackgroundOperation) -> list[tuple[str, str]]:
    """Return the conditions of an operation as label and value, and where a move goes."""
    found = [(LABELS.get(name, name), value) for name, value in operation.filter.items()]
    return found if operation.to is None else [*found, (LABELS["to"], operation.to)]

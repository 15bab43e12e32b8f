"""Automations of Resend's API as sequences: one mail after another, with delays between. Pure.

An automation here is a trigger, and mails and delays in one chain behind it. Steps that branch,
wait for another event or change contacts have no counterpart, and are refused by name.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from mailqueue.api.emails.schema import StorableObject, StorableText
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField

MAX_STEPS = 100
MAX_DELAY_MINUTES = 30 * 24 * 60
TRIGGER, DELAY, MAIL = "trigger", "delay", "send_email"
_KEY = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_DURATION = re.compile(r"(\d{1,6}) ?(minute|hour|day|week)s?")
_MINUTES = {"minute": 1, "hour": 60, "day": 24 * 60, "week": 7 * 24 * 60}
_FIELD = re.compile(r"event((?:\.[A-Za-z_][A-Za-z0-9_]*){1,10})")
_Short = Annotated[StorableText, Field(min_length=1, max_length=200)]
_Status = Literal["enabled", "disabled"]


class AutomationStepBody(StrictRequestModel):
    """A step of an automation."""

    key: _Short
    type: _Short
    config: StorableObject = Field(default_factory=dict)


class AutomationConnectionBody(StrictRequestModel):
    """A connection of two steps."""

    source: _Short = Field(alias="from")
    target: _Short = Field(alias="to")
    type: _Short = "default"


_Steps = Annotated[list[AutomationStepBody], Field(min_length=1, max_length=MAX_STEPS)]
_Connections = Annotated[list[AutomationConnectionBody], Field(max_length=MAX_STEPS)]


class ChangedAutomation(StrictRequestModel):
    """The body of PATCH /automations/{automation_id}; what is left out stays."""

    automation_id: StorableText | None = None
    name: _Short | None = None
    status: _Status | None = None
    steps: _Steps | None = None
    connections: _Connections | None = None


class NewAutomation(ChangedAutomation):
    """The body of POST /automations."""

    name: _Short
    steps: _Steps
    connections: _Connections
    status: _Status = "disabled"


class MailTemplate(StrictRequestModel):
    """The template of a mail of an automation."""

    id: _Short
    variables: StorableObject = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AutomationMail:
    """A mail: the place of its step in the body, its key, its template, and the wait before it."""

    place: int
    key: str
    template: str
    minutes: int

    def step(self, slug: str) -> dict[str, Any]:
        """Return the step of a sequence that makes it."""
        delay = {"delay": f"{self.minutes}m"} if self.minutes else {}
        return {"name": self.key, "template": slug, **delay}


@dataclass(frozen=True, slots=True)
class AutomationPlan:
    """What an automation does: the event that starts it, its mails, and their variables, as paths
    in the payload of the event or as values.
    """

    event: str
    mails: Sequence[AutomationMail]
    variables: Mapping[str, str]


def planned(
    steps: Sequence[AutomationStepBody], connections: Sequence[AutomationConnectionBody]
) -> AutomationPlan:
    """Return the plan of steps.

    Raises:
        InvalidField: a step or a connection is invalid or not supported; the first one is named.
    """
    chain = _chain(steps, connections)
    first, _ = chain[0]
    event = _text(f"steps.{first}.config", steps[first].config, "event_name")
    mails: list[AutomationMail] = []
    variables: dict[str, str] = {}
    minutes = 0
    for place, one in chain[1:]:
        name = f"steps.{place}"
        if one.type == DELAY:
            minutes += _minutes(f"{name}.config", one.config)
            continue
        template = _template(f"{name}.config", one.config)
        for key, given in template.variables.items():
            path = _variable(f"{name}.config.template.variables.{key[:100]}", given)
            if variables.setdefault(key, path) != path:
                why = "has another value in a step before: an automation has one"
                raise InvalidField(f"{name}.config.template.variables.{key[:100]}", why)
        mails.append(AutomationMail(place, one.key, template.id, minutes))
        minutes = 0
    if minutes or not mails:
        raise InvalidField("steps", f"an automation ends with {MAIL}")
    return AutomationPlan(event, mails, variables)


def _chain(
    steps: Sequence[AutomationStepBody], connections: Sequence[AutomationConnectionBody]
) -> list[tuple[int, AutomationStepBody]]:
    """Return the steps in their order, each with its place in the body, the trigger first.

    Raises:
        InvalidField: they are no chain that begins with the only trigger.
    """
    places: dict[str, int] = {}
    for place, one in enumerate(steps):
        if one.type not in (TRIGGER, DELAY, MAIL):
            why = f"{one.type[:100]!r} is not supported: use {TRIGGER}, {DELAY} and {MAIL}"
            raise InvalidField(f"steps.{place}.type", why)
        if _KEY.fullmatch(one.key) is None:
            why = "up to 63 lower-case letters, digits, `-` and `_` are needed"
            raise InvalidField(f"steps.{place}.key", why)
        if one.key in places:
            raise InvalidField(f"steps.{place}.key", "is the key of another step")
        places[one.key] = place
    after: dict[str, str] = {}
    for place, link in enumerate(connections):
        if link.type != "default":
            raise InvalidField(f"connections.{place}.type", "is not supported: use default")
        for field, key in (("from", link.source), ("to", link.target)):
            if key not in places:
                raise InvalidField(f"connections.{place}.{field}", "is the key of no step")
        if link.source in after:
            raise InvalidField(f"connections.{place}.from", "a step is followed by one step")
        after[link.source] = link.target
    triggers = [place for place, one in enumerate(steps) if one.type == TRIGGER]
    if len(triggers) != 1:
        raise InvalidField("steps", f"one {TRIGGER} is needed")
    found = [triggers[0]]
    while steps[found[-1]].key in after and len(found) <= len(steps):
        found.append(places[after[steps[found[-1]].key]])
    if sorted(found) != list(range(len(steps))):
        why = f"must lead from the {TRIGGER} through each step once"
        raise InvalidField("connections", why)
    return [(place, steps[place]) for place in found]


def _text(field: str, config: Mapping[str, Any], name: str) -> str:
    """Return the only setting of a step.

    Raises:
        InvalidField: it is missing or no text, or there is another.
    """
    for other in config:
        if other != name:
            raise InvalidField(f"{field}.{other[:100]}", "is not supported")
    given = config.get(name)
    if not isinstance(given, str) or not 1 <= len(given) <= 200:
        raise InvalidField(f"{field}.{name}", "a text of 1 to 200 characters is needed")
    return given


def _minutes(field: str, config: Mapping[str, Any]) -> int:
    """Return the length of a delay in minutes.

    Raises:
        InvalidField: it is no duration, or longer than 30 days.
    """
    found = _DURATION.fullmatch(_text(field, config, "duration"))
    if found is None:
        why = "must be such as `30 minutes`, `1 hour`, `3 days` or `1 week`"
        raise InvalidField(f"{field}.duration", why)
    minutes = int(found[1]) * _MINUTES[found[2]]
    if not 1 <= minutes <= MAX_DELAY_MINUTES:
        raise InvalidField(f"{field}.duration", "must be from 1 minute to 30 days")
    return minutes


def _template(field: str, config: Mapping[str, Any]) -> MailTemplate:
    """Return the template of a mail.

    Raises:
        InvalidField: there is none, or another setting.
    """
    for other in config:
        if other != "template":
            why = "is not supported: a mail is what its template says, from the project's sender"
            raise InvalidField(f"{field}.{other[:100]}", why)
    given = config.get("template")
    if not isinstance(given, dict):
        raise InvalidField(f"{field}.template", "an object with the id of a template is needed")
    for other in given:
        if other not in ("id", "variables"):
            raise InvalidField(f"{field}.template.{other[:100]}", "is not supported")
    name, variables = given.get("id"), given.get("variables") or {}
    if not isinstance(name, str) or not 1 <= len(name) <= 200:
        raise InvalidField(f"{field}.template.id", "the id or alias of a template is needed")
    if not isinstance(variables, dict) or len(variables) > 50:
        raise InvalidField(f"{field}.template.variables", "an object of at most 50 is needed")
    return MailTemplate(id=name, variables=variables)


def _variable(field: str, given: Any) -> str:
    """Return a variable as event rules take it: a path in the payload, or the value itself.

    Raises:
        InvalidField: it is neither a field of the event nor a text.
    """
    if isinstance(given, str) and len(given) <= 500 and not given.startswith("$"):
        return given
    if isinstance(given, dict) and set(given) == {"var"} and isinstance(given["var"], str):
        found = _FIELD.fullmatch(given["var"])
        if found is not None:
            return f"$.payload{found[1]}"
    why = 'must be {"var": "event.NAME"} or a text; templates have `contact` themselves'
    raise InvalidField(field, why)

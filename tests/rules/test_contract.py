"""A value that callers see is declared once, in mailqueue/contract, with no dependency."""

import ast
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from tests.rules.source import all_imports, modules

MIN_FIELDS = 5
"""Number of fields from which two classes with the same ones are taken for one value."""
CONTRACT = "mailqueue.contract"
# Two classes that may have the same fields, and why.
TWINS: Mapping[frozenset[str], str] = {
    frozenset({"CreateSender", "ChangeSender"}): "every field of a change may be left out",
    frozenset({"CreateWebhook", "ChangeWebhook"}): "every field of a change may be left out",
    frozenset({"Limits", "LimitsChange"}): "every field of a change may be left out",
    frozenset({"VerificationSecrets", "SecretsChange"}): "every field of a change may be left out",
    frozenset({"CreateTemplate", "NewTemplate"}): "a body is validated, a wish is a value",
    frozenset({"LogQuery", "DeliveryFilter"}): "a query is validated, a filter is a value",
    frozenset(
        {"TimedEventsQuery", "TimedEventFilter"}
    ): "a query is validated, a filter is a value",
    frozenset(
        {"NewEmail", "EnqueueMessage"}
    ): "the package without dependencies knows no capability",
}
NEAR = 0.7
"""Share of common fields from which a class is taken for a value of the contract."""
# Classes that have most fields of a value, and why they are none: (class, value).
RELATIVES: Mapping[tuple[str, str], str] = {
    ("ChangeEventRule", "EventRule"): "a body is validated, and names what it changes",
    ("ContactTally", "ImportedContacts"): "counts that still grow",
    ("EndedSuppressionRow", "EndedSuppression"): "a row; callers see its address once",
    ("EventRuleForm", "EventRule"): "a form has texts, as they are typed",
    ("ImportTally", "ImportedSuppressions"): "counts that still grow",
    ("PlatformEvent", "AdminEvent"): "a row of one of two logs, with the id of that log",
    ("ProjectSettings", "ProjectDetails"): "a body is validated, and names what it changes",
    ("SenderHealth", "SenderCircuit"): "a row names its account",
    ("DryRunRecipient", "Recipient"): "an email that is not accepted has no outcome",
    ("VersionRow", "TemplateVersion"): "a row, with the id of its template",
    ("PictureRow", "TemplatePicture"): "a row, with the token and domain that its URL is made of",
    ("WebhookRow", "Webhook"): "a row, with the id and name of its project",
}
# What a client says beyond the value of the API.
SUBCLASSES = {("mailqueue.client.answers", "Sent")}


class Declared(NamedTuple):
    """A class with fields, and where it stands."""

    module: str
    name: str
    fields: frozenset[str]


def declared(module: str, tree: ast.Module) -> Iterator[Declared]:
    """Yield the dataclasses and models of a module, without tuples and protocols."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not _bases(node) & {
            "NamedTuple",
            "TypedDict",
            "Protocol",
        }:
            names = (
                each.target.id
                for each in node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            )
            yield Declared(module, node.name, frozenset(names))


def restated(classes: list[Declared]) -> list[str]:
    """Return the pairs of classes that have the same fields."""
    by_fields: dict[frozenset[str], list[Declared]] = {}
    for each in classes:
        if len(each.fields) >= MIN_FIELDS:
            by_fields.setdefault(each.fields, []).append(each)
    return [
        f"{one.module}.{one.name} and {other.module}.{other.name}"
        for same in by_fields.values()
        for one, other in combinations(same, 2)
        if frozenset({one.name, other.name}) not in TWINS
    ]


def resembling(classes: list[Declared]) -> set[tuple[str, str]]:
    """Return the classes outside the contract that have most fields of one of its values."""
    values = [each for each in classes if each.module.startswith(CONTRACT)]
    return {
        (each.name, value.name)
        for each in classes
        for value in values
        if not each.module.startswith(CONTRACT)
        and len(value.fields) >= MIN_FIELDS
        and len(each.fields & value.fields) >= NEAR * len(each.fields | value.fields)
    }


def _bases(node: ast.ClassDef) -> set[str]:
    return {base.id for base in node.bases if isinstance(base, ast.Name)}


def every_class() -> list[Declared]:
    return [each for name, tree in modules().items() for each in declared(name, tree)]


def test_no_value_is_declared_twice() -> None:
    assert restated(every_class()) == []


def test_no_class_has_most_fields_of_a_value() -> None:
    assert resembling(every_class()) == {*RELATIVES}


def test_every_exception_is_needed() -> None:
    names = {each.name for each in every_class()}

    assert [pair for pair in TWINS if not pair <= names] == []


def test_the_name_of_a_value_of_the_contract_means_nothing_else() -> None:
    classes = every_class()
    values = {each.name for each in classes if each.module.startswith(CONTRACT)}

    assert [
        f"{each.module}.{each.name}"
        for each in classes
        if each.name in values
        and not each.module.startswith(CONTRACT)
        and (each.module, each.name) not in SUBCLASSES
    ] == []


def test_the_contract_needs_the_standard_library_only() -> None:
    known = {*sys.stdlib_module_names}

    assert [
        each.where
        for each in all_imports()
        if each.module.startswith(CONTRACT)
        and not each.imported.startswith(CONTRACT)
        and each.imported.split(".")[0] not in known
    ] == []


def test_a_value_declared_twice_is_found() -> None:
    fields = "\n".join(f"    {name}: int" for name in "abcde")
    source = f"class One:\n{fields}\nclass Other:\n{fields}\nclass Row(NamedTuple):\n{fields}"

    found = restated([*declared("mailqueue.x", ast.parse(source))])

    assert found == ["mailqueue.x.One and mailqueue.x.Other"]


def test_a_class_with_most_fields_of_a_value_is_found() -> None:
    fields = "\n".join(f"    {name}: int" for name in "abcde")
    value = declared("mailqueue.contract.x", ast.parse(f"class One:\n{fields}\n    f: int"))
    other = declared("mailqueue.x", ast.parse(f"class Other:\n{fields}\n    g: int"))

    assert resembling([*value, *other]) == {("Other", "One")}

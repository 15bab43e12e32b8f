"""Names and values of Handlebars as expressions of Jinja. Pure."""

import re
from collections.abc import Callable
from typing import NamedTuple

MAX_NAMES = 10
MAX_PATH_CHARACTERS = 10_000
"""Longest expression of a name; those of nested blocks contain those around them."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATH = re.compile(r"(?:\.\./)*[A-Za-z0-9_$-]+(?:[./][A-Za-z0-9_$-]+)*")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_STRING = re.compile(r"\"[^\"\\{}%]*\"|'[^'\\{}%]*'")
# Words that stand for something else at the beginning of an expression of Jinja.
_WORDS = """
    and caller else false False if import in is loop none None not or recursive self super true
    True varargs kwargs range dict lipsum cycler joiner namespace
"""
_TAKEN = frozenset(_WORDS.split())
_CONSTANTS = {"true": "true", "false": "false", "null": "none", "undefined": "none"}


class UntranslatedTemplate(Exception):
    """A tag cannot be translated exactly; the text says why, and the form to use instead."""


class NameScope(NamedTuple):
    """What names are looked up in: `base` None: the variables of the mail.

    `loop` is whether @index, @first and @last are there; `named` gives the expression of a name
    where it is not the name itself.
    """

    base: str | None
    loop: bool = False
    named: Callable[[str], str] = str


def value_of(text: str, scopes: list[NameScope], *, otherwise: str = '""') -> str:
    """Return an expression for a name or a literal; a missing or null value is `otherwise`.

    Raises:
        UntranslatedTemplate: it is neither, or a name that Jinja does not have.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _NUMBER.fullmatch(text) or _STRING.fullmatch(text):
        return text
    return f"{path_of(text, scopes)} | default({otherwise})"


def path_of(text: str, scopes: list[NameScope]) -> str:
    """Return an expression for a name such as `user.name`, `../name`, `this` and `@index`.

    Raises:
        UntranslatedTemplate: Jinja has no such name.
    """
    scopes = scopes.copy()
    rest = text
    if rest.startswith("@root"):
        scopes, rest = scopes[:1], rest.removeprefix("@root").lstrip(".") or "this"
    if rest.startswith("@"):
        return _of_loop(rest, scopes[-1])
    if rest in (".", "this"):
        return _itself(scopes[-1])
    if not _PATH.fullmatch(rest) and rest != "..":
        raise UntranslatedTemplate(f"{text!r} is not a name: write {{{{ user.name }}}}")
    while rest.startswith("../") or rest == "..":
        if len(scopes) < 2:
            raise UntranslatedTemplate(f"{text!r} leads out of the template")
        scopes.pop()
        rest = rest[3:] or "this"
    if rest == "this":
        return _itself(scopes[-1])
    names = re.split(r"[./]", re.sub(r"^this[./]", "", rest))
    return _chained(names, scopes[-1])


def _of_loop(name: str, scope: NameScope) -> str:
    found = {"@index": "loop.index0", "@first": "loop.first", "@last": "loop.last"}.get(name)
    if found is None or not scope.loop:
        raise UntranslatedTemplate(
            f"{name!r} is not translated: write {{% for item in items %}}{{{{ loop.index0 }}}}"
        )
    return found


def _itself(scope: NameScope) -> str:
    if scope.base is None:
        raise UntranslatedTemplate("'this' outside of {{#each}} is not translated: name a variable")
    return scope.base


def _chained(names: list[str], scope: NameScope) -> str:
    if len(names) > MAX_NAMES:
        raise UntranslatedTemplate(f"a name has at most {MAX_NAMES} parts")
    found = scope.base
    for number, name in enumerate(names, 1):
        if found is None:
            if not _NAME.fullmatch(name) or name in _TAKEN:
                raise UntranslatedTemplate(
                    f"a variable cannot be called {name!r}: use letters, digits and _"
                )
            found = scope.named(name)
            continue
        key = name if name.isdigit() else f'"{name}"'
        entry = f"({found} | default({{}}))[{key}]"
        is_length = name == "length" and number == len(names)
        found = f"({entry} | default({_length(found)}))" if is_length else entry
        if len(found) > MAX_PATH_CHARACTERS:
            raise UntranslatedTemplate("blocks and names are nested too deep")
    assert found is not None, "a name has a part"
    return found


def _length(value: str) -> str:
    """Return the length of a list or text, which Handlebars has as an entry `length`."""
    return f"{value} | length if {value} is sequence and {value} is not mapping else none"

"""Translate templates of Handlebars and Mustachio into Jinja, or say what to write. Pure.

Missing and null values print nothing there, and here an error: `default` is added. A text that is
in Jinja already, by a `{%` or a filter, is left as it is, so that what is shown can be sent back.

Follows handlebarsjs.com/guide, postmarkapp.com/support/article/1077-template-syntax and
twilio.com/docs/sendgrid/for-developers/sending-email/using-handlebars.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mailqueue.api.compat.handlebars.paths import (
    NameScope,
    UntranslatedTemplate,
    path_of,
    value_of,
)
from mailqueue.core.errors import InvalidField
from mailqueue.rendering.compiled import LONGEST_SOURCE

MAX_TAGS = 10_000
MAX_DEPTH = 50
MAX_TAG_CHARACTERS = 1_000
_FILTERED = re.compile(r"\{\{(?!\s*[#!])[^{}|]*\|")
_ITEM = re.compile(r"item(\d{1,9})")
_WORDS = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s\"']+")
_LITERAL = re.compile(r"\{#")
_QUOTED = "{% raw %}{#{% endraw %}"
_COMPARISONS = {"equals": "==", "equal": "==", "notEquals": "!="}
_JOINED = {"and": "and", "or": "or"}
_LINKS = {"unsubscribe": "unsubscribe_url", "unsubscribe_preferences": "preferences_url"}
"""Our names of what SendGrid itself puts into mail."""
_GROUP_LINK = "<%asm_"


@dataclass(slots=True)
class _Block:
    word: str
    ending: str
    has_scope: bool = False
    has_else: bool = False


@dataclass(slots=True)
class _Translation:
    items: frozenset[int]  # numbers behind the word item in the text
    has_sections: bool
    has_links: bool
    scopes: list[NameScope]
    blocks: list[_Block] = field(default_factory=list)
    loops: int = 0


def jinja_of(
    text: str,
    *,
    field: str,
    has_sections: bool = False,
    named: Callable[[str], str] | None = None,
) -> str:
    """Return a template in Jinja.

    `has_sections`: {{#name}} is Mustachio's, which looks names up in `name`. `named` gives the
    expressions of names, also of SendGrid's own links.

    Raises:
        InvalidField: it cannot be translated exactly; the message has the line, and what to write.
    """
    if not has_sections and _GROUP_LINK in text:
        line = text.count("\n", 0, text.index(_GROUP_LINK)) + 1
        why = f"{_GROUP_LINK}…%> is not translated: write {{{{ unsubscribe_url }}}}"
        raise InvalidField(field, f"line {line}: {why}")
    if "{%" in text or _FILTERED.search(text):
        return text
    items = frozenset(int(number) for number in _ITEM.findall(text))
    scopes, room = [NameScope(None, named=named or str)], LONGEST_SOURCE
    state, found, end = _Translation(items, has_sections, named is not None, scopes), [], 0
    for count in range(MAX_TAGS + 1):
        start = text.find("{{", end)
        if start < 0:
            break
        found.append(_LITERAL.sub(_QUOTED, text[end:start]))
        try:
            if count == MAX_TAGS:
                raise UntranslatedTemplate(f"a template has at most {MAX_TAGS} tags")
            if text[start - 1 : start] == "\\" and not has_sections:
                raise UntranslatedTemplate(
                    r"\{{ is not translated: write {% raw %}{{name}}{% endraw %}"
                )
            tag, end = _tag_at(text, start)
            found.append(_translated(state, tag))
            room -= len(found[-2]) + len(found[-1])
            if room < 0:
                raise UntranslatedTemplate(f"it has over {LONGEST_SOURCE} characters in Jinja")
        except UntranslatedTemplate as exc:
            line = text.count("\n", 0, start) + 1
            raise InvalidField(field, f"line {line}: {exc}") from None
    if state.blocks:
        one = state.blocks[-1]
        raise InvalidField(field, f"{{{{#{one.word}}}}} is not closed")
    found.append(_LITERAL.sub(_QUOTED, text[end:]))
    return "".join(found)


def _tag_at(text: str, start: int) -> tuple[str, int]:
    """Return the tag that begins at a place, and where it ends.

    Raises:
        UntranslatedTemplate: it does not end, or is too long.
    """
    opening, closing = "{{", "}}"
    for opens, closes in (("{{!--", "--}}"), ("{{{", "}}}")):
        if text.startswith(opens, start):
            opening, closing = opens, closes
            break
    end = text.find(closing, start + len(opening))
    if end < 0:
        raise UntranslatedTemplate(f"{opening} is not closed")
    end += len(closing)
    if opening == "{{!--":
        return "{{!}}", end
    tag = text[start:end]
    if len(tag) > MAX_TAG_CHARACTERS or "{" in tag[len(opening) :]:
        raise UntranslatedTemplate(f"{tag[:60]!r} is not closed, or too long")
    return tag, end


def _translated(state: _Translation, tag: str) -> str:
    if tag.startswith("{{{"):
        return f"{{{{ {_printed(state, tag[3:-3].strip(), '{{{')} | safe }}}}"
    inside = tag[2:-2].strip()
    if not inside:
        raise UntranslatedTemplate("{{}} is empty")
    if inside.startswith("~") or inside.endswith("~"):
        raise UntranslatedTemplate(f"{{{{{inside[:60]}}}}} is not translated: write {{{{- … -}}}}")
    sign, rest = inside[0], inside[1:].strip()
    if sign in _SIGNS and (rest or sign != "^"):
        return _SIGNS[sign](state, rest)
    if inside in ("else", "^"):
        return _otherwise(state)
    if inside.startswith("else "):
        return _else_if(state, inside.removeprefix("else ").strip())
    return f"{{{{ {_printed(state, inside, '{{')} }}}}"


def _without_partial(_state: _Translation, rest: str) -> str:
    name = rest.split(maxsplit=1)[0] if rest else "name"
    raise UntranslatedTemplate(f'partials are not translated: write {{% include "{name[:60]}" %}}')


def _unescaped(state: _Translation, rest: str) -> str:
    return f"{{{{ {_printed(state, rest, '{{&')} | safe }}}}"


def _printed(state: _Translation, inside: str, opening: str) -> str:
    words = _WORDS.findall(inside)
    if len(words) == 1:
        _refuse_link(state, words[0])
        return value_of(words[0], state.scopes)
    if words and words[0] == "insert" and len(words) in (2, 3):
        return _inserted(state, words)
    if words and words[0] == "formatDate":
        shown = '{{ at | format_date("%Y-%m-%d") }}'
    else:
        shown = "{{ name | filter }}"
    raise UntranslatedTemplate(
        f"{opening}{inside[:60]} … is not translated: write {shown}, a filter of Jinja"
    )


def _refuse_link(state: _Translation, name: str) -> None:
    """Refuse the names of SendGrid's own links, which no mail gives a value."""
    ours = _LINKS.get(name.removeprefix("@root."))
    if (
        ours is None
        or state.has_links
        or state.has_sections
        or (len(state.scopes) > 1 and name in _LINKS)
    ):
        return
    raise UntranslatedTemplate(
        f"{name!r} is not translated: write {{{{ {ours} }}}}, "
        f'or {{{{ {name} | default("") }}}} for a variable of the mail'
    )


def _inserted(state: _Translation, words: list[str]) -> str:
    if len(words) == 2:
        return value_of(words[1], state.scopes)
    given = words[2][1:-1]
    if not given.startswith("default=") or set(given) & set("\"'\\{}%"):
        raise UntranslatedTemplate('write {{ name | default("…") }}')
    return value_of(words[1], state.scopes, otherwise=f'"{given.removeprefix("default=")}"')


def _condition(state: _Translation, word: str, arguments: list[str]) -> str | None:
    """Return the condition of a block; None if it is no condition."""
    if word in ("if", "unless") and len(arguments) == 1:
        found = value_of(arguments[0], state.scopes, otherwise="false")
        return f"not ({found})" if word == "unless" else found
    if word in (*_COMPARISONS, *_JOINED) and len(arguments) == 2:
        otherwise = "none" if word in _COMPARISONS else '""'
        left, right = (f"({value_of(one, state.scopes, otherwise=otherwise)})" for one in arguments)
        return f"{left} {_COMPARISONS.get(word) or _JOINED[word]} {right}"
    return None


def _opened(state: _Translation, rest: str) -> str:
    words = _WORDS.findall(rest)
    if not words:
        raise UntranslatedTemplate("{{#}} is empty")
    if len(state.blocks) >= MAX_DEPTH:
        raise UntranslatedTemplate(f"blocks are nested {MAX_DEPTH} deep at most")
    word, *arguments = words
    condition = _condition(state, word, arguments)
    if condition is not None:
        state.blocks.append(_Block(word, "{% endif %}"))
        return f"{{% if {condition} %}}"
    if word in ("each", "with") and len(arguments) == 1:
        return _SCOPED[word](state, arguments[0])
    if state.has_sections and not arguments:
        return _with(state, word, word)
    known = "{% if name %} … {% endif %} or {% for item in items %} … {% endfor %}"
    raise UntranslatedTemplate(f"{{{{#{rest[:60]}}}}} is not translated: write {known}")


def _each(state: _Translation, name: str) -> str:
    items = path_of(name, state.scopes)
    is_list = f"{items} is sequence and {items} is not string and {items} is not mapping"
    of_object = f"{items} | items | map(attribute=1) | list"
    looped = f"({items} if {is_list} else {of_object} if {items} is mapping else [])"
    state.loops += 1
    while state.loops in state.items:
        state.loops += 1
    item = f"item{state.loops}"
    state.scopes.append(NameScope(item, loop=True))
    state.blocks.append(_Block("each", "{% endfor %}", has_scope=True))
    return f"{{% for {item} in {looped} %}}"


def _with(state: _Translation, name: str, word: str = "with") -> str:
    found = path_of(name, state.scopes)
    state.scopes.append(NameScope(found))
    state.blocks.append(_Block(word, "{% endif %}", has_scope=True))
    return f"{{% if {found} | default(false) %}}"


_SCOPED: dict[str, Callable[[_Translation, str], str]] = {"each": _each, "with": _with}


def _inverted(state: _Translation, name: str) -> str:
    """Translate Mustachio's {{^name}} … {{/name}}."""
    condition = value_of(name, state.scopes, otherwise="false")
    state.blocks.append(_Block(name, "{% endif %}"))
    return f"{{% if not ({condition}) %}}"


def _otherwise(state: _Translation) -> str:
    if not state.blocks or state.blocks[-1].has_else:
        raise UntranslatedTemplate("{{else}} has no block")
    block = state.blocks[-1]
    block.has_else = True
    if block.has_scope:
        state.scopes.pop()
        block.has_scope = False
    return "{% else %}"


def _else_if(state: _Translation, rest: str) -> str:
    words = _WORDS.findall(rest)
    block = state.blocks[-1] if state.blocks else None
    if block is None or block.has_else or block.ending != "{% endif %}" or block.has_scope:
        raise UntranslatedTemplate(f"{{{{else {rest[:60]}}}}} has no {{{{#if}}}}")
    condition = _condition(state, words[0], words[1:]) if words else None
    if condition is None:
        raise UntranslatedTemplate(
            f"{{{{else {rest[:60]}}}}} is not translated: write {{% elif name %}}"
        )
    return f"{{% elif {condition} %}}"


def _closed(state: _Translation, word: str) -> str:
    if not state.blocks or state.blocks[-1].word != word:
        raise UntranslatedTemplate(f"{{{{/{word[:60]}}}}} closes no {{{{#{word[:60]}}}}}")
    block = state.blocks.pop()
    if block.has_scope:
        state.scopes.pop()
    return block.ending


_SIGNS: dict[str, Callable[[_Translation, str], str]] = {
    "!": lambda _state, _rest: "",
    "#": _opened,
    "^": _inverted,
    "/": _closed,
    ">": _without_partial,
    "&": _unescaped,
}

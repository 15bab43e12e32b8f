"""Convert templates written for Go: {{.Name}} is accepted, other forms are refused with a hint.
Pure.
"""

import re

from mailqueue.rendering.faults import TemplateFault
from mailqueue.rendering.spans import Span, spans_of

_OPENING = re.compile(r"(?P<raw>\{%-?\s*raw\s*-?%\})|(?P<comment>\{#)|(?P<tag>\{\{)")
_CLOSING = {
    "raw": re.compile(r"\{%-?\s*endraw\s*-?%\}"),
    "comment": re.compile(r"#\}"),
    "tag": re.compile(r"\}\}"),
}
_SIGNS = ("-", "+")
_PATH = r"\.[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_LOOSE_PATH = re.compile(rf"(?<![\w\])]){_PATH}")
_DOTTED = re.compile(rf"\s*(?P<path>{_PATH})\s*+(?P<rest>\|.*)?", re.DOTALL)
_WORD = re.compile(r"\s*(?P<word>[A-Za-z_]+|/\*|\$)(?P<rest>.*)", re.DOTALL)
_CALL = re.compile(rf"\s*(?P<path>{_PATH})(?P<arguments>(?:\s+(?:\"[^\"]*\"|[0-9.]+))*)\s*")
_FUNCTIONS = (
    "formatDate",
    "urlEncode",
    "currency",
    "truncate",
    "toUpper",
    "toLower",
    "safeHTML",
)
_OPERATORS = ("printf", "print", "println", "index", "len", "eq", "ne", "and", "or", "not")
_ENDS = {"end": "{% endif %} or {% endfor %}", "else": "{% else %}"}


def as_jinja(source: str, part: str = "") -> str:
    """Return a template in Jinja's syntax, with the same lines.

    Raises:
        TemplateFault: it has a form of Go; the text names Jinja's form.
    """
    if "{{" not in source:
        return source

    pieces: list[str] = []
    at = 0
    for span in spans_of(source, _OPENING, _CLOSING):
        if span.kind == "tag":
            pieces += (source[at : span.start], _read(source, span, part))
            at = span.end
    return "".join((*pieces, source[at:]))


def _read(source: str, span: Span, part: str) -> str:
    inside = source[span.begin : span.stop]
    left = inside[:1] if inside.startswith(_SIGNS) else ""
    inside = inside.removeprefix(left)
    right = inside[-1:] if inside.endswith(_SIGNS) else ""
    inside = inside.removesuffix(right)
    dotted = _DOTTED.fullmatch(inside)
    if dotted is not None:
        return f"{{{{{left} {dotted['path'][1:]} {dotted['rest'] or ''} {right}}}}}"
    instead = _instead(inside)
    if instead is not None:
        line = source.count("\n", 0, span.start) + 1
        written = " ".join(source[span.start : span.end].split())[:100]
        raise TemplateFault(f"{written} is Go syntax: write {instead}", part=part, line=line)
    return source[span.start : span.end]


def _instead(inside: str) -> str | None:
    """Return the Jinja form of a Go action; None where the text is not one."""
    if inside.strip() == ".":
        return "the loop's variable, as in {% for item in items %}{{ item }}{% endfor %}"
    found = _WORD.match(inside)
    if found is None:
        return None
    word, rest = found["word"], found["rest"]
    names = _LOOSE_PATH.sub(lambda path: path[0][1:], rest).strip()
    if word in _ENDS and (not rest.strip() or word == "else"):
        is_chain = word == "else" and names.startswith("if ")
        return f"{{% elif {names[3:].strip()} %}}" if is_chain else _ENDS[word]
    if word == "/*":
        return "{# a comment #}"
    if word == "$":
        return "the variable by its name, without $"
    if not rest[:1].isspace():
        return None
    if word == "if":
        return f"{{% if {names} %}} … {{% endif %}}"
    if word == "range":
        return f"{{% for item in {names.rpartition('=')[2].strip() or 'items'} %}} … {{% endfor %}}"
    if word == "with":
        return f"{{% with value = {names} %}} … {{% endwith %}}"
    if word in ("template", "block", "define"):
        return '{% include "name" %}, or {% block name %} … {% endblock %} of a layout'
    if word in _OPERATORS and _LOOSE_PATH.search(rest):
        return "an expression of Jinja, like {{ items | length }} or {% if a == b %}"
    call = _CALL.fullmatch(rest)
    if word in _FUNCTIONS and call is not None:
        arguments = ", ".join(re.findall(r"\"[^\"]*\"|[0-9.]+", call["arguments"]))
        filter_ = f"{word}({arguments})" if arguments else word
        return f"{{{{ {call['path'][1:]} | {filter_} }}}}"
    return None

"""Compiles the words of a template version once, and renders them for one mail after the other."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple

from jinja2 import (
    BaseLoader,
    Environment,
    Template,
    TemplateError,
    TemplateSyntaxError,
    nodes,
)
from jinja2.exceptions import TemplateNotFound

from mailqueue.rendering import guards
from mailqueue.rendering.dialect import as_jinja
from mailqueue.rendering.faults import TemplateFault
from mailqueue.rendering.flat import Flat, Piece, flat_of
from mailqueue.rendering.meter import Meter
from mailqueue.rendering.plain import text_of
from mailqueue.rendering.sandbox import Sandbox
from mailqueue.rendering.schema import Schema

LONGEST_SOURCE = 512 * 1024
MAX_CHARACTERS = 1024 * 1024
"""Of all sources of a version together: its bodies, layouts and partials."""

MAX_TAGS = 5000
LINKS = {name: f"{{{{ {name} }}}}" for name in ("unsubscribe_url", "preferences_url")}
"""Variables that every mail has: each stands for itself until it is known whose mail it is."""

_SPACES = re.compile(r"[ \t\r\n]+")
# What Python raises where an expression makes no sense for the values it meets.
_SENSELESS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)
_UNREADABLE = (SyntaxError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class Source:
    """What a version says in one language; `parts` are its layouts and partials by name."""

    subject: str
    html: str | None = None
    text: str | None = None  # None: made of each mail's HTML
    parts: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None


class Rendered(NamedTuple):
    """What one mail says."""

    subject: str
    html: str | None
    text: str | None


class CompiledTemplate:
    """The compiled words of a version, with what its variables must be."""

    __slots__ = ("_html", "_meter", "_schema", "_subject", "_text")

    def __init__(
        self,
        meter: Meter,
        *,
        subject: Piece,
        html: Piece | None,
        text: Piece | None,
        schema: Schema | None,
    ) -> None:
        self._meter = meter
        self._subject = subject
        self._html = html
        self._text = text
        self._schema = schema

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the variables without which nothing can be rendered, where that is plain
        to see.
        """
        pieces = (self._subject, self._html, self._text)
        names = {path[0] for one in pieces if isinstance(one, Filled) for path in one.flat.paths}
        return tuple(sorted(names - LINKS.keys()))

    def check(self, variables: Mapping[str, Any]) -> None:
        """Refuse variables that do not fit the schema.

        Raises:
            TemplateFault: naming the first that does not.
        """
        if self._schema is not None:
            self._schema.check(variables)

    def render(self, variables: Mapping[str, Any]) -> Rendered:
        """Return what one mail says.

        Raises:
            TemplateFault: the variables do not fit, or rendering is more than a mail may cost.
        """
        if self._schema is not None:
            self._schema.check(variables)
        self._meter.start()
        variables = {**LINKS, **variables}
        subject = _SPACES.sub(" ", self._subject(variables)).strip()
        html = None if self._html is None else self._html(variables)
        if self._text is not None:
            return Rendered(subject, html, self._text(variables))
        return Rendered(subject, html, None if html is None else text_of(html))


class Compiler:
    """Compiles templates. It renders one mail at a time: each thread needs its own compiler."""

    def __init__(self) -> None:
        self._meter = Meter()
        self._plain = Sandbox(self._meter, autoescape=False)
        self._html = Sandbox(self._meter, autoescape=True)

    def parts_of(self, source: str, parts: Mapping[str, str], *, part: str) -> dict[str, str]:
        """Return those of `parts` that a source names, and those they name themselves.

        Raises:
            TemplateFault: it names one there is not, or one of them does not compile.
        """
        environment = self._html if part == "html" else self._plain
        found: dict[str, str] = {}
        waiting = [(part, source)]
        while waiting:
            name, text = waiting.pop()
            tree = _parsed(environment, text, name)
            if name != part:
                environment.compile(tree, name)
            for wanted in guards.parts_named(tree):
                if wanted not in parts:
                    raise TemplateFault(f"there is no layout or partial {wanted}", part=name)
                if wanted not in found:
                    found[wanted] = parts[wanted]
                    waiting.append((wanted, parts[wanted]))
        return found

    def compiled(self, source: Source) -> CompiledTemplate:
        """Compile what a version says.

        Raises:
            TemplateFault: naming the part, the line, and what is wrong.
        """
        texts = (source.subject, source.html or "", source.text or "", *source.parts.values())
        if max(map(len, texts)) > LONGEST_SOURCE or sum(map(len, texts)) > MAX_CHARACTERS:
            raise TemplateFault(
                f"a template may have {LONGEST_SOURCE} characters in each body, and with its "
                f"layouts and partials {MAX_CHARACTERS}"
            )
        shelf = _Parts(source.parts)
        plain = self._plain.overlay(loader=shelf)
        html = self._html.overlay(loader=shelf)
        return CompiledTemplate(
            self._meter,
            subject=_piece(plain, source.subject, "subject"),
            html=None if source.html is None else _piece(html, source.html, "html"),
            text=None if source.text is None else _piece(plain, source.text, "text"),
            schema=None if source.schema is None else Schema(source.schema),
        )


def _parsed(environment: Environment, source: str, part: str) -> nodes.Template:
    if source.count("{{") + source.count("{%") > MAX_TAGS:  # before time is spent on reading them
        raise TemplateFault(f"more than {MAX_TAGS} tags", part=part)
    try:
        tree = environment.parse(as_jinja(source, part), part)
        guards.check(tree, part)
    except TemplateSyntaxError as exc:
        raise _syntax(exc, part) from None
    except _UNREADABLE as exc:
        raise TemplateFault(f"it cannot be compiled: {exc}", part=part) from None
    return tree


class _Parts(BaseLoader):
    """The layouts and partials of one version."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def get_source(
        self,
        environment: Environment,  # noqa: ARG002
        template: str,
    ) -> tuple[str, None, Callable[[], bool]]:
        if template not in self._sources:
            raise TemplateNotFound(template)
        return as_jinja(self._sources[template], template), None, _always


def _always() -> bool:
    return True


def _piece(environment: Environment, source: str, part: str) -> Piece:
    try:
        tree = _parsed(environment, source, part)
        flat = flat_of(tree, is_html=bool(environment.autoescape))
        if flat is not None:
            return Filled(flat, part)
        code = environment.compile(tree, part, f"<{part}>")
        return _Compiled(
            Template.from_code(environment, code, environment.make_globals(None)), part
        )
    except TemplateSyntaxError as exc:
        raise _syntax(exc, part) from None
    except _UNREADABLE as exc:
        raise TemplateFault(f"it cannot be compiled: {exc}", part=part) from None


@dataclass(frozen=True, slots=True)
class Filled:
    """A part of a mail that only has places for variables."""

    flat: Flat
    part: str

    def __call__(self, variables: Mapping[str, Any]) -> str:
        try:
            return self.flat(variables)
        except TemplateFault as exc:
            raise type(exc)(exc.why, part=self.part) from None


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A part of a mail as Jinja compiled it."""

    template: Template
    part: str

    def __call__(self, variables: Mapping[str, Any]) -> str:
        try:
            context = self.template.new_context(dict(variables))
            return "".join(self.template.root_render_func(context))
        except TemplateFault as exc:
            raise type(exc)(exc.why, part=self.part, line=self._line(exc)) from None
        except TemplateNotFound as exc:
            why = f"there is no layout or partial {exc.name}"
            raise TemplateFault(why, part=self.part, line=self._line(exc)) from None
        except TemplateSyntaxError as exc:
            raise _syntax(exc, self.part) from None
        except TemplateError as exc:
            why = exc.message or str(exc)
            raise TemplateFault(why, part=self.part, line=self._line(exc)) from None
        except _SENSELESS as exc:
            raise TemplateFault(_worded(exc), part=self.part, line=self._line(exc)) from None

    def _line(self, exc: Exception) -> int | None:
        """Find the line of the part that was being rendered."""
        trace: TracebackType | None = exc.__traceback__
        line = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == f"<{self.part}>":
                line = self.template.get_corresponding_lineno(trace.tb_lineno)
            trace = trace.tb_next
        return line


def _syntax(exc: TemplateSyntaxError, part: str) -> TemplateFault:
    return TemplateFault(exc.message or str(exc), part=exc.name or part, line=exc.lineno)


def _worded(exc: Exception) -> str:
    if isinstance(exc, RecursionError):
        return "it calls itself without end"
    return f"an expression has no meaning for its values ({type(exc).__name__}: {exc})"

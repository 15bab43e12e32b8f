"""Compile the texts of a template version once, and render them for each mail."""

import re
import threading
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
from mailqueue.rendering.contexts.links import LATER
from mailqueue.rendering.contexts.stream import Writer
from mailqueue.rendering.dialect import as_jinja
from mailqueue.rendering.faults import TemplateFault
from mailqueue.rendering.flat import Flat, Piece, flat_of
from mailqueue.rendering.meter import Meter
from mailqueue.rendering.plain import text_of
from mailqueue.rendering.sandbox import Sandbox
from mailqueue.rendering.schema import Schema

LONGEST_SOURCE = 512 * 1024
MAX_CHARACTERS = 1024 * 1024
"""Most characters of all sources of a version: bodies, layouts and partials."""

MAX_TAGS = 5000
_SPACES = re.compile(r"[ \t\r\n]+")
# Exceptions of Python for expressions that do not fit the values.
_EXPRESSION_ERRORS = (
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)
_UNREADABLE = (SyntaxError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """The texts of a version in one language; `parts` are its layouts and partials by name."""

    subject: str
    html: str | None = None
    text: str | None = None  # None: made from each mail's HTML
    parts: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None


class Rendered(NamedTuple):
    """The rendered content of one mail."""

    subject: str
    html: str | None
    text: str | None


class CompiledTemplate:
    """The compiled texts of a version, with its schema."""

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
    def used(self) -> int:
        """Return the units of work that the last render used, of any template of its compiler."""
        return self._meter.used

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the variables that are certainly required; others may be, too."""
        pieces = (self._subject, self._html, self._text)
        names = {path[0] for one in pieces if isinstance(one, FlatPart) for path in one.flat.paths}
        return tuple(sorted(names - LATER.keys()))

    def check(self, variables: Mapping[str, Any]) -> None:
        """Validate variables against the schema.

        Raises:
            TemplateFault: naming the first invalid variable.
        """
        if self._schema is not None:
            self._schema.check(variables)

    def render(self, variables: Mapping[str, Any]) -> Rendered:
        """Return the rendered content of one mail.

        Raises:
            TemplateFault: the variables are invalid, or rendering exceeds the limits.
        """
        if self._schema is not None:
            self._schema.check(variables)
        self._meter.start()
        variables = {**LATER, **variables}
        subject = _SPACES.sub(" ", self._subject(variables)).strip()
        html = None
        if self._html is not None:
            html = self._html(variables)
            self._meter.check_html(html, is_read=self._text is None)
        if self._text is not None:
            return Rendered(subject, html, self._text(variables))
        return Rendered(subject, html, None if html is None else text_of(html))


class Compiler:
    """Compiles templates. It renders one mail at a time: each thread needs its own compiler."""

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Meter()
        self.turn = threading.Lock()
        """Held by threads that share this compiler, while one of them compiles or renders."""
        self._plain = Sandbox(self._meter, autoescape=False)
        self._html = Sandbox(self._meter, autoescape=True)

    def parts_of(self, source: str, parts: Mapping[str, str], *, part: str) -> dict[str, str]:
        """Return those of `parts` that a source includes, directly or through another part.

        Raises:
            TemplateFault: a part does not exist or does not compile.
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

    def compiled(self, source: TemplateSource) -> CompiledTemplate:
        """Compile the texts of a version.

        Raises:
            TemplateFault: naming the part, the line, and the fault.
        """
        texts = (source.subject, source.html or "", source.text or "", *source.parts.values())
        if max(map(len, texts)) > LONGEST_SOURCE or sum(map(len, texts)) > MAX_CHARACTERS:
            raise TemplateFault(
                f"a template may have at most {LONGEST_SOURCE} characters in each body, and at most"
                f" {MAX_CHARACTERS} together with its layouts and partials"
            )
        loader = _Parts(source.parts)
        plain = self._plain.overlay(loader=loader)
        html = self._html.overlay(loader=loader)
        return CompiledTemplate(
            self._meter,
            subject=_piece(plain, source.subject, "subject"),
            html=None if source.html is None else _piece(html, source.html, "html"),
            text=None if source.text is None else _piece(plain, source.text, "text"),
            schema=None if source.schema is None else Schema(source.schema),
        )


def _parsed(environment: Environment, source: str, part: str) -> nodes.Template:
    if source.count("{{") + source.count("{%") > MAX_TAGS:  # checked before parsing
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


def _piece(environment: Sandbox, source: str, part: str) -> Piece:
    try:
        tree = _parsed(environment, source, part)
        meter = environment.meter
        flat = flat_of(tree, meter, is_html=bool(environment.autoescape))
        if flat is not None:
            return FlatPart(flat, part)
        code = environment.compile(tree, part, f"<{part}>")
        template = Template.from_code(environment, code, environment.make_globals(None))
        return _Compiled(template, part, Writer(meter) if environment.autoescape else None)
    except TemplateSyntaxError as exc:
        raise _syntax(exc, part) from None
    except _UNREADABLE as exc:
        raise TemplateFault(f"it cannot be compiled: {exc}", part=part) from None


@dataclass(frozen=True, slots=True)
class FlatPart:
    """A body or subject that only inserts variables."""

    flat: Flat
    part: str

    def __call__(self, variables: Mapping[str, Any]) -> str:
        try:
            return self.flat(variables)
        except TemplateFault as exc:
            raise type(exc)(exc.why, part=self.part) from None


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A body or subject as compiled by Jinja."""

    template: Template
    part: str
    writer: Writer | None  # of HTML

    def __call__(self, variables: Mapping[str, Any]) -> str:
        try:
            context = self.template.new_context(dict(variables))
            chunks = self.template.root_render_func(context)
            return "".join(chunks) if self.writer is None else self.writer.write(chunks)
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
        except _EXPRESSION_ERRORS as exc:
            raise TemplateFault(_worded(exc), part=self.part, line=self._line(exc)) from None

    def _line(self, exc: Exception) -> int | None:
        """Return the line of the part that was being rendered."""
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
        return "it includes or calls itself endlessly"
    return f"an expression does not fit its values ({type(exc).__name__}: {exc})"

"""The email of one line: subject and bodies, rendered from templates with the line's columns."""

from dataclasses import dataclass

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from mailqueue.cli.sending.enqueue.file import Line
from mailqueue.contract.suppression import BadLine
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.enqueue import NewEmail

# What an expression of a template may raise when it meets a line's values.
_RENDERING = (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Templates:
    """The compiled templates of one command; None if not given."""

    subject: Template
    html: Template | None
    text: Template | None


@dataclass(frozen=True, slots=True)
class StoredTemplate:
    """A template stored in the database; every column is a variable of it."""

    template: str
    language: str | None


def named(line: Line, stored: StoredTemplate, *, options: dict[str, object], key: str) -> NewEmail:
    """Return the email of one line; the stored template is rendered when it is sent."""
    said = {"template": stored.template, "variables": line.values, "idempotency_key": key}
    if stored.language is not None:
        said["language"] = stored.language
    return NewEmail(recipient=_mailbox(line), subject=None, options={**options, **said})


def compiled(*, subject: str, html: str | None, text: str | None) -> Templates:
    """Compile the templates; values are escaped in HTML only.

    Raises:
        InvalidField: a template has a syntax error; names the template and the line.
    """
    return Templates(
        subject=_compiled("subject", subject, is_html=False),
        html=None if html is None else _compiled("template-file", html, is_html=True),
        text=None if text is None else _compiled("text-template-file", text, is_html=False),
    )


def rendered(
    line: Line, templates: Templates, *, options: dict[str, object], key: str
) -> NewEmail | BadLine:
    """Return the email of one line, rendered from the templates."""
    parts: dict[str, str | None] = {}
    for name in ("subject", "html", "text"):
        template: Template | None = getattr(templates, name)
        try:
            parts[name] = None if template is None else template.render(line.values)
        except _RENDERING as exc:
            return BadLine(line.number, _error_text(exc), name)
    return NewEmail(
        recipient=_mailbox(line),
        subject=parts["subject"] or "",
        html=parts["html"],
        text=parts["text"],
        options={**options, "idempotency_key": key},
    )


def _compiled(name: str, source: str, *, is_html: bool) -> Template:
    # Immutable: one line's template may not change what the next one sees.
    environment = ImmutableSandboxedEnvironment(
        autoescape=is_html, undefined=StrictUndefined, keep_trailing_newline=True
    )
    try:
        return environment.from_string(source)
    except TemplateSyntaxError as exc:
        raise InvalidField(name, f"line {exc.lineno}: {exc.message}") from None


def _error_text(exc: Exception) -> str:
    return " ".join(str(exc).split()) or type(exc).__name__


def _mailbox(line: Line) -> str:
    if not line.name or "<" in line.address:
        return line.address  # it brings its own name, or will be refused as it is
    quoted = line.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}" <{line.address}>'

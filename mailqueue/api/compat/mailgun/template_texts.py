"""Texts of templates in Mailgun's API: what a form gives, translated from Handlebars into Jinja."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mailqueue.api.compat.handlebars.translation import jinja_of
from mailqueue.api.compat.mailgun.faults import NamedParameter
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.mailgun.options import object_of
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import InvalidField
from mailqueue.templates.model import NewText, StoredText

TEXT_FIELDS = ("template", "tag", "comment", "headers", "engine", "active")
NO_SUBJECT = '{{ "" }}'
"""The subject of a template without one: the message has it, or is sent without."""
_TAGGED = re.compile(r"%(recipient|(?:mailing_list_|tag_)?unsubscribe_)[^%\r\n]{0,200}%")
_NAMES = {
    "html_body": "template",
    "subject": "headers.Subject",
    "slug": "name",
    "note": "comment",
}


@dataclass(frozen=True, slots=True)
class GivenText:
    """What a form gives of a version; None: nothing."""

    template: str | None
    subject: str | None
    comment: str | None
    tag: str | None
    is_active: bool | None

    def text(self, before: StoredText | None = None) -> NewText:
        """Return the texts in Jinja; those that are not given are as before.

        Raises:
            InvalidField: one cannot be translated, or there is none.
        """
        html = None if before is None else before.html_body
        plain = None if before is None else before.text_body
        subject = NO_SUBJECT if before is None else before.subject
        if self.template is not None:
            html, plain = translated(self.template, "template"), None
        if self.subject is not None:
            subject = translated(self.subject, "headers.Subject") or NO_SUBJECT
        return NewText(subject, html, plain)


def translated(text: str, field: str) -> str:
    """Return a text in Jinja.

    Raises:
        InvalidField: it cannot be translated exactly; the message has what to write.
    """
    tagged = _TAGGED.search(text)
    if tagged is not None:
        line = text.count("\n", 0, tagged.start()) + 1
        is_link = "unsubscribe_" in tagged[0]
        shown = "{{ unsubscribe_url }}" if is_link else "{{ name }}, a variable of the mail"
        raise InvalidField(field, f"line {line}: {tagged[0]} is not translated: write {shown}")
    return jinja_of(text, field=field)


async def text_form(call: RequestContext, fields: Sequence[str]) -> Form:
    """Return the form of a request with some of these fields.

    Raises:
        InvalidField: a field is not known, or is a file.
    """
    form = await form_of(call)
    form.check_names(fields)
    if form.files:
        raise InvalidField(form.files[0].field[:100], "must be text, not a file")
    for name, _ in form.fields:
        if name not in fields:  # o:, h:, v: and t: are of mail
            raise InvalidField(name[:100], "is not supported or not known")
    return form


def text_in(form: Form) -> GivenText:
    """Return what a form gives of a version.

    Raises:
        InvalidField: a field is invalid or not supported.
    """
    engine = form.one("engine")
    if engine not in (None, "handlebars"):
        raise InvalidField("engine", "must be handlebars")
    active = form.one("active")
    if active not in (None, "yes", "no"):
        raise InvalidField("active", "must be yes or no")
    return GivenText(
        template=form.one("template"),
        subject=_subject(form.one("headers")),
        comment=form.one("comment"),
        tag=form.one("tag"),
        is_active=None if active is None else active == "yes",
    )


def _subject(headers: str | None) -> str | None:
    """Return the subject in the headers of a template, the one that is kept."""
    if headers is None:
        return None
    try:
        given: Mapping[str, object] = object_of("headers", headers)
    except InvalidField:
        raise NamedParameter("headers", "a JSON object is needed") from None
    found = None
    for name, text in given.items():
        if not isinstance(text, str):
            raise NamedParameter(f"headers.{name[:100]}", "must be text")
        if name.lower() == "subject":
            found = text
        elif text:
            why = "is not kept with a template: give it with each message"
            raise NamedParameter(f"headers.{name[:100]}", why)
    return found


def renamed_field(exc: InvalidField) -> NamedParameter:
    """Return an error with Mailgun's name of its field. Pure."""
    return NamedParameter(_NAMES.get(exc.field, exc.field), exc.why)

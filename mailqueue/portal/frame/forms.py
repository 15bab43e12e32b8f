"""Pages with one form or one button, and buttons that stand beside what they act on."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from starlette.responses import Response

from mailqueue.core.errors import Conflict, InvalidField, Locked
from mailqueue.db.fetch import Conn
from mailqueue.portal.frame.context import PortalContext, SentBefore
from mailqueue.portal.frame.page import PortalHandler, PortalPage
from mailqueue.web.rendering import sentence
from mailqueue.web.schemas import Form, fields_of, read_as, typed_of

PortalVerb = Callable[[PortalContext, Conn], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class PortalForm(Generic[Form]):
    """A page with one form.

    `verb` acts in the transaction in which the form is used up, so that both happen or neither, and
    returns the path of the page that is shown then. `above` is the page that it belongs to, below
    the path of the project.
    """

    title: str
    button: str
    schema: type[Form]
    verb: Callable[[PortalContext, Conn, Form], Awaitable[str]]
    above: str
    lead: str = ""
    about: Callable[[PortalContext, Conn], Awaitable[str]] | None = None
    """Returns the name of what the form changes; raises NotFound for another person's."""

    async def ask(self, context: PortalContext) -> Response:
        """Show the form."""
        return await self._shown(context, typed_of(self.schema, {}))

    async def act(self, context: PortalContext) -> Response:
        """Do what the form says, once."""
        typed = typed_of(self.schema, context.form)
        values, faults = read_as(self.schema, context.form)
        if values is None:
            shown = {name: sentence(why) for name, why in faults.items()}
            return await self._shown(context, typed, shown)
        try:
            async with context.acting_once() as conn:
                after = await self.verb(context, conn, values)
        except SentBefore:
            return context.redirect(f"{context.home}{self.above}?done=before")
        except (InvalidField, Conflict, Locked) as exc:
            return await self._shown(context, typed, fault_of(exc, typed))
        return context.redirect(after)

    async def _shown(
        self,
        context: PortalContext,
        typed: Mapping[str, str],
        faults: Mapping[str, str] | None = None,
    ) -> Response:
        name = ""
        if self.about is not None:
            async with context.connection() as conn:
                name = await self.about(context, conn)
        return context.form_page(
            "frame/form.html",
            typed,
            faults,
            form=self,
            name=name,
            fields=fields_of(self.schema),
            path=context.request.url.path,
            back=f"{context.home}{self.above}",
        )


@dataclass(frozen=True, slots=True)
class Question:
    """What a page with one button asks: the name of what is changed, and the consequence."""

    name: str
    consequence: str


@dataclass(frozen=True, slots=True)
class PortalAct:
    """A page that says what will happen, with one button; `verb` is as in PortalForm."""

    title: str
    button: str
    preview: Callable[[PortalContext, Conn], Awaitable[Question]]
    verb: PortalVerb
    above: str

    async def ask(self, context: PortalContext) -> Response:
        """Show what will happen, and the button."""
        return await self._shown(context)

    async def act(self, context: PortalContext) -> Response:
        """Do it, once."""
        try:
            async with context.acting_once() as conn:
                after = await self.verb(context, conn)
        except SentBefore:
            return context.redirect(f"{context.home}{self.above}?done=before")
        except (InvalidField, Conflict) as exc:
            return await self._shown(context, sentence(str(exc)))
        for finish in context.afterwards:
            await finish()
        return context.redirect(after)

    async def _shown(self, context: PortalContext, fault: str = "") -> Response:
        async with context.connection() as conn:
            question = await self.preview(context, conn)
        return context.form_page(
            "frame/act.html",
            {},
            {"": fault} if fault else {},
            act=self,
            question=question,
            path=context.request.url.path,
            back=f"{context.home}{self.above}",
        )


def form_pages(path: str, form: PortalForm[Form] | PortalAct) -> tuple[PortalPage, PortalPage]:
    """Return the rows of a page with a form or a button: the page, and what it does."""
    return PortalPage("GET", path, form.ask), PortalPage("POST", path, form.act)


def button(path: str, above: str, verb: PortalVerb) -> PortalPage:
    """Return the row of a button that stands on another page, `above`, and acts once."""

    async def act(context: PortalContext) -> Response:
        try:
            async with context.acting_once() as conn:
                after = await verb(context, conn)
        except SentBefore:
            return context.redirect(f"{context.home}{above}?done=before")
        return context.redirect(after)

    handler: PortalHandler = act
    return PortalPage("POST", path, handler)


def fault_of(exc: InvalidField | Conflict | Locked, typed: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong by the name of the field; of no field of the form, by an empty one."""
    if not isinstance(exc, InvalidField):
        return {"": sentence(str(exc))}
    if exc.field in typed:
        return {exc.field: sentence(exc.why)}
    return {"": sentence(f"{exc.field.replace('_', ' ')}: {exc.why}")}

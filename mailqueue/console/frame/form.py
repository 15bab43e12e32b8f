"""A page with one form: its fields are a schema, and a verb acts on what they give."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.errors import Conflict, InvalidField, ProjectFull
from mailqueue.db.fetch import Conn
from mailqueue.web.forms import MAX_BYTES
from mailqueue.web.rendering import sentence
from mailqueue.web.schemas import Form, fields_of, read_as, typed_of


@dataclass(frozen=True, slots=True)
class FormPage(Generic[Form]):
    """A page with one form.

    `verb` acts in the transaction in which the form is used up, so that both happen or neither, and
    returns the path of the page that is shown then. `lead` and `consequence` say what for and what
    will happen.
    """

    title: str
    button: str
    schema: type[Form]
    verb: Callable[[PageContext, Conn, Form], Awaitable[str]]
    lead: str = ""
    consequence: str = ""
    on_installation: bool = False
    """Whether the verb acts on the installation, not on the project in the path."""
    named: Callable[[PageContext, Conn], Awaitable[str]] | None = None
    """Returns the name of what is changed, which stands behind the title."""
    first: Callable[[PageContext, Conn], Awaitable[Mapping[str, str]]] | None = None
    """Returns what is in the fields at first, where the form changes something. The form is refused
    if that is no longer so when it is sent.
    """

    async def ask(self, context: PageContext) -> Response:
        """Show the form; a link may fill it in."""
        given = context.request.query_params
        if self.first is None:
            return await self._shown(context, typed_of(self.schema, given))
        async with self._lent(context) as conn:
            first = await self.first(context, conn)
        typed = typed_of(self.schema, {**first, **given})
        return await self._shown(context, typed, version=version_of(first))

    async def act(self, context: PageContext) -> Response:
        """Do what the form says, once."""
        typed, version = typed_of(self.schema, context.form), context.form.get("version", "")
        values, faults = read_as(self.schema, context.form)
        if values is None:
            shown = {name: sentence(why) for name, why in faults.items()}
            return await self._shown(context, typed, shown, version=version)
        try:
            async with context.acting_once(on_installation=self.on_installation) as conn:
                if self.first is not None:
                    _check_version(version, await self.first(context, conn))
                after = await self.verb(context, conn, values)
        except DoneBefore:
            return context.redirect(f"{_above(context)}?done=before")
        except InvalidField as exc:
            known = exc.field in typed
            why = sentence(exc.why if known else f"{exc.field}: {exc.why}")
            faults = {exc.field if known else "": why}
            return await self._shown(context, typed, faults, version=version)
        except (Conflict, ProjectFull) as exc:
            return await self._shown(context, typed, {"": sentence(str(exc))}, version=version)
        return context.redirect(after)

    async def _shown(
        self,
        context: PageContext,
        typed: Mapping[str, str],
        faults: Mapping[str, str] | None = None,
        *,
        version: str = "",
    ) -> Response:
        name = ""
        if self.named is not None:
            async with self._lent(context) as conn:
                name = await self.named(context, conn)
        return context.form_page(
            "frame/form.html",
            typed,
            faults,
            form=self,
            name=name,
            version=version,
            fields=fields_of(self.schema),
            path=context.request.url.path,
            back=_above(context),
        )

    def _lent(self, context: PageContext) -> AbstractAsyncContextManager[Conn]:
        return context.installation() if self.on_installation else context.connection()


def form_pages(
    path: str,
    right: Right,
    form: FormPage[Form],
    *,
    menu: MenuEntry | None = None,
    step_up: bool = False,
    needs_all: bool = False,
    max_fields_bytes: int = MAX_BYTES,
) -> tuple[ConsolePage, ConsolePage]:
    """Return the rows of a page with one form: the page, and what it does."""
    keeps = tuple(form.schema.model_fields)
    return (
        ConsolePage("GET", path, right, form.ask, step_up=step_up, needs_all=needs_all, menu=menu),
        ConsolePage(
            "POST",
            path,
            right,
            form.act,
            keeps,
            step_up=step_up,
            needs_all=needs_all,
            max_fields_bytes=max_fields_bytes,
        ),
    )


def _above(context: PageContext) -> str:
    return context.request.url.path.rpartition("/")[0]


def version_of(first: Mapping[str, str]) -> str:
    """Return a hash of what was in the fields of a form at first. Pure."""
    return hashlib.sha256(repr(sorted(first.items())).encode()).hexdigest()[:32]


def _check_version(version: str, first: Mapping[str, str]) -> None:
    """Raise Conflict if a form was made for other values than those that are there. Pure."""
    if version != version_of(first):
        raise Conflict("it was changed meanwhile, so nothing was saved: open the form again")

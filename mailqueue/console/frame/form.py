"""A page with one form: its fields are a schema, and a verb acts on what they give."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from starlette.responses import Response

from mailqueue.administration.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.errors import sentence
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
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

    async def ask(self, context: PageContext) -> Response:
        """Show the form; a link may fill it in."""
        return self._shown(context, typed_of(self.schema, context.request.query_params))

    async def act(self, context: PageContext) -> Response:
        """Do what the form says, once."""
        typed = typed_of(self.schema, context.form)
        values, faults = read_as(self.schema, context.form)
        if values is None:
            shown = {name: sentence(why) for name, why in faults.items()}
            return self._shown(context, typed, shown)
        try:
            async with context.acting_once(on_installation=self.on_installation) as conn:
                after = await self.verb(context, conn, values)
        except DoneBefore:
            return context.redirect(f"{_above(context)}?done=before")
        except InvalidField as exc:
            known = exc.field in typed
            why = sentence(exc.why if known else f"{exc.field}: {exc.why}")
            return self._shown(context, typed, {exc.field if known else "": why})
        except Conflict as exc:
            return self._shown(context, typed, {"": sentence(str(exc))})
        return context.redirect(after)

    def _shown(
        self,
        context: PageContext,
        typed: Mapping[str, str],
        faults: Mapping[str, str] | None = None,
    ) -> Response:
        return context.form_page(
            "frame/form.html",
            typed,
            faults,
            form=self,
            fields=fields_of(self.schema),
            path=context.request.url.path,
            back=_above(context),
        )


def form_pages(
    path: str,
    right: Right,
    form: FormPage[Form],
    *,
    menu: MenuEntry | None = None,
    step_up: bool = False,
    needs_all: bool = False,
) -> tuple[ConsolePage, ConsolePage]:
    """Return the rows of a page with one form: the page, and what it does."""
    keeps = tuple(form.schema.model_fields)
    return (
        ConsolePage("GET", path, right, form.ask, step_up=step_up, needs_all=needs_all, menu=menu),
        ConsolePage("POST", path, right, form.act, keeps, step_up=step_up, needs_all=needs_all),
    )


def _above(context: PageContext) -> str:
    return context.request.url.path.rpartition("/")[0]

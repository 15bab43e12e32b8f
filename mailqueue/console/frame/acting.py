"""A page that says what an act will do, with one button that does it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.web.rendering import sentence


@dataclass(frozen=True, slots=True)
class ActPreview:
    """What an act will do: the name of what it is done to, and the consequence in words."""

    name: str
    consequence: str


@dataclass(frozen=True, slots=True)
class ActPage:
    """A page with one button.

    `preview` returns what will happen; `verb` does it in the transaction in which the form is used
    up, and returns the path of the page that is shown then.
    """

    title: str
    """What is done, before the name of what it is done to."""
    button: str
    preview: Callable[[PageContext, Conn], Awaitable[ActPreview]]
    verb: Callable[[PageContext, Conn], Awaitable[str]]
    is_destructive: bool = False
    on_installation: bool = False
    """Whether the verb acts on the installation, not on the project in the path."""

    async def ask(self, context: PageContext) -> Response:
        """Show what will happen, and the button."""
        return await self._shown(context)

    async def act(self, context: PageContext) -> Response:
        """Do it, once."""
        try:
            async with context.acting_once(on_installation=self.on_installation) as conn:
                after = await self.verb(context, conn)
        except DoneBefore:
            return context.redirect(f"{_above(context)}?done=before")
        except (Conflict, InvalidField) as exc:
            return await self._shown(context, sentence(str(exc)))
        return context.redirect(after)

    async def _shown(self, context: PageContext, fault: str = "") -> Response:
        lent = context.installation() if self.on_installation else context.connection()
        async with lent as conn:
            preview = await self.preview(context, conn)
        return context.form_page(
            "frame/act.html",
            {},
            {"": fault} if fault else {},
            act=self,
            preview=preview,
            path=context.request.url.path,
            back=_above(context),
        )


def button_pages(
    path: str, right: Right, page: ActPage, *, step_up: bool = False
) -> tuple[ConsolePage, ConsolePage]:
    """Return the rows of a page with one button: the page, and what it does."""
    return (
        ConsolePage("GET", path, right, page.ask, step_up=step_up),
        ConsolePage("POST", path, right, page.act, step_up=step_up),
    )


def _above(context: PageContext) -> str:
    return context.request.url.path.rpartition("/")[0]

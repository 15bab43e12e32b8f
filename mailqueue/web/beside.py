"""Links between the pages for people that one listener serves: console, API reference, trap."""

from collections.abc import Sequence

from starlette.types import Scope

PageLinks = Sequence[tuple[str, str]]
"""Titles and paths of pages."""
CONSOLE, REFERENCE, TRAP = "/console", "/docs", "/trap"
_PAGES: PageLinks = (
    ("Console", CONSOLE),
    ("API reference", REFERENCE),
    ("Mail trap", TRAP),
)


def pages_beside(scope: Scope, own: str) -> PageLinks:
    """Return the pages that the listener of a request serves besides `own`."""
    app = scope.get("app")
    served = {getattr(route, "path", "") for route in app.routes} if app is not None else set()
    return [(title, path) for title, path in _PAGES if path in served and path != own]

"""Pages for people link those that their own listener serves."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mailqueue.web.beside import CONSOLE, REFERENCE, TRAP, pages_beside


async def answer(request: Request) -> Response:
    return Response()


def test_a_page_links_what_its_listener_serves_and_not_itself() -> None:
    app = Starlette(routes=[Route(path, answer) for path in (CONSOLE, TRAP, "/v1/send")])

    assert pages_beside({"app": app}, CONSOLE) == [("Mail trap", "/trap")]
    assert pages_beside({"app": app}, REFERENCE) == [
        ("Console", "/console"),
        ("Mail trap", "/trap"),
    ]
    assert pages_beside({}, CONSOLE) == []

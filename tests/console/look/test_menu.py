"""The menu and the routes are made from the table of pages, in whose order neither is hidden."""

from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import Console, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import Access, ConsolePage, sections_of
from mailqueue.console.frame.router import Router
from mailqueue.console.table import NAVIGATION, PAGES

PROJECT = "/console/projects/{project}"


async def answer(context: PageContext) -> Response:
    return Response()


def page(path: str, menu: MenuEntry | None = None, access: Any = Right.READ) -> ConsolePage:
    return ConsolePage("GET", path, access, answer, menu=menu)


def request_of(path: str) -> Request:
    return Request({"type": "http", "method": "GET", "path": path, "headers": []})


def test_pages_stand_below_their_headings_in_the_order_of_the_table() -> None:
    menu = sections_of(
        [
            page(f"{PROJECT}/a", MenuEntry("A")),
            page(f"{PROJECT}/b", MenuEntry("B", "Mail")),
            page("/console/users", MenuEntry("Users"), Right.ADMINISTER),
            page(f"{PROJECT}/hidden"),
            page(f"{PROJECT}/c", MenuEntry("C", "Sending")),
            page(f"{PROJECT}/d", MenuEntry("D", "Mail")),
        ]
    )

    assert [(each.title, each.path, each.group) for each in menu] == [
        ("A", "a", ""),
        ("Users", "/console/users", ""),
        ("B", "b", "Mail"),
        ("D", "d", "Mail"),
        ("C", "c", "Sending"),
    ]
    assert [each.of_project for each in menu] == [True, False, True, True, True]
    assert menu[1].right is Right.ADMINISTER


def test_a_public_page_has_no_place_in_the_menu() -> None:
    with pytest.raises(ValueError, match="/console/login"):
        sections_of([page("/console/login", MenuEntry("Log in"), Access.PUBLIC)])


def test_the_menu_of_the_console_and_of_a_project_name_each_page_once() -> None:
    for of_project in (False, True):
        shown = [each for each in NAVIGATION if each.of_project is of_project]
        assert len({each.path for each in shown}) == len(shown) >= 6
        assert len({each.title for each in shown}) == len(shown)
    assert next(each.title for each in NAVIGATION if not each.of_project) == "Dashboard"


@pytest.mark.parametrize("order", [1, -1])
def test_a_path_with_a_word_is_found_before_one_with_a_variable(order: int) -> None:
    pages = [page(f"{PROJECT}/keys/{{key}}"), page(f"{PROJECT}/keys/new")][::order]
    router = Router(cast("Console", None), pages)

    for path, found in (("keys/new", "keys/new"), ("keys/81", "keys/{key}")):
        request = request_of(f"/console/projects/shop/{path}")
        assert router._found(request).path == f"{PROJECT}/{found}"


def test_every_page_of_the_table_is_reached_by_its_path() -> None:
    router = Router(cast("Console", None), PAGES)

    for each in PAGES:
        if each.method == "GET":
            request = request_of(each.path.replace("{", "a-").replace("}", ""))
            assert router._found(request) is each

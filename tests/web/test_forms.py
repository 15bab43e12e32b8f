"""Forms are bounded, the first of a repeated field counts, and errors name the field."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from mailqueue.web.forms import MAX_BYTES, FormBounds, open_form, read_form
from mailqueue.web.schemas import Choices, FormSchema, TextLines, fields_of, read_as, typed_of

FORM = "application/x-www-form-urlencoded"
IN_PARTS = "multipart/form-data; boundary=end"
# Half a pair of surrogates in UTF-7, which PostgreSQL cannot store.
PARTS = b'--end\r\nContent-Disposition: form-data; name="a"\r\n\r\n+2AA-\r\n--end--\r\n'


def client_of(bounds: FormBounds) -> TestClient:
    async def respond(request: Request) -> Response:
        if bounds.max_file:
            async with open_form(request, bounds) as (fields, file):
                size = None if file is None else len(await file.read())
                return JSONResponse({"fields": fields, "size": size})
        return JSONResponse(await read_form(request, bounds))

    return TestClient(Starlette(routes=[Route("/", respond, methods=["POST"])]))


def test_a_form_is_read_in_either_type_and_the_first_of_a_name_counts() -> None:
    client = client_of(FormBounds())

    plain = client.post("/", content=b"a=1&a=2&b=%00x", headers={"Content-Type": FORM})
    parts = client.post("/", files=[("a", (None, "1")), ("a", (None, "2"))])

    assert plain.json() == {"a": "1", "b": "\ufffdx"}
    assert parts.json() == {"a": "1"}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {"Content-Type": "application/json"}, 415),
        (b"a=1", {}, 415),
        (b"a=1", {"Content-Type": FORM, "Content-Encoding": "gzip"}, 415),
        (b"a=" + b"x" * MAX_BYTES, {"Content-Type": FORM}, 413),
        (b"a=%ff", {"Content-Type": FORM}, 400),
        (b"a=1&b=2&c=3&d=4", {"Content-Type": FORM}, 400),
        (b"x", {"Content-Type": "multipart/form-data"}, 400),
        (b"a=1", {"Content-Type": f"{FORM}; charset=no-such"}, 415),
        (PARTS, {"Content-Type": f"{IN_PARTS}; charset=no-such"}, 415),
        (PARTS, {"Content-Type": f"{IN_PARTS}; charset=utf-7"}, 415),
        (PARTS, {"Content-Type": f"{IN_PARTS}; charset=undefined"}, 415),
    ],
)
def test_what_is_no_form_or_too_large_is_refused(
    body: bytes, headers: dict[str, str], status: int
) -> None:
    client = client_of(FormBounds(max_fields=3))

    assert client.post("/", content=body, headers=headers).status_code == status


def test_a_file_is_taken_where_the_form_may_have_one() -> None:
    file = {"file": ("list.csv", b"x" * 2000, "text/csv")}
    taken = client_of(FormBounds(max_file=4000)).post("/", data={"a": "1"}, files=file)

    assert taken.json() == {"fields": {"a": "1"}, "size": 2000}
    assert client_of(FormBounds()).post("/", files=file).status_code == 400
    large = {"file": ("list.csv", b"x" * (MAX_BYTES + 5000), "text/csv")}
    assert client_of(FormBounds(max_file=4000)).post("/", files=large).status_code == 413


def test_a_body_without_a_type_is_a_form_where_mail_programs_send_it() -> None:
    client = client_of(FormBounds(needs_type=False))

    assert client.post("/", content=b"List-Unsubscribe=One-Click").json() == {
        "List-Unsubscribe": "One-Click"
    }


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Order(FormSchema):
    name: Annotated[str, Field(max_length=5)]
    """Name
    As it stands on the parcel.
    """
    count: Annotated[int, Field(ge=1)] = 1
    """How many"""
    day: date | None = None
    """Day"""
    colour: Annotated[Colour, Choices({"red": "Red, as fire"})] = Colour.RED
    """Colour"""
    size: Literal["s", "l"] | None = None
    """Size"""
    note: Annotated[str, TextLines()] = ""
    """Note"""
    is_gift: bool = False
    """A gift"""


def test_the_fields_of_a_schema_are_shown_by_their_types() -> None:
    fields = {each.name: each for each in fields_of(Order)}

    assert [str(each.kind) for each in fields.values()] == [
        *("text", "number", "date", "choice", "choice", "area", "check")
    ]
    name = fields["name"]
    assert (name.label, name.hint) == ("Name", "As it stands on the parcel.")
    assert (name.is_needed, name.longest) == (True, 5)
    assert fields["colour"].choices == (("red", "Red, as fire"), ("blue", "blue"))
    assert fields["size"].choices == (("", "any"), ("s", "s"), ("l", "l"))
    assert typed_of(Order, {"name": "x"}) == {
        "name": "x",
        "count": "1",
        "day": "",
        "colour": "red",
        "size": "",
        "note": "",
        "is_gift": "",
    }


def test_a_form_gives_values_or_errors_that_name_the_field() -> None:
    good, none = read_as(Order, {"name": " Ann ", "day": "2030-05-01", "is_gift": "on", "x": "y"})
    bad, faults = read_as(Order, {"name": "too long", "count": "0", "colour": "green", "day": "x"})

    assert good == Order(name="Ann", day=date(2030, 5, 1), is_gift=True)
    assert none == {}
    assert bad is None
    assert set(faults) == {"name", "count", "colour", "day"}
    assert read_as(Order, {"name": "  "})[1] == {"name": "is needed"}
    assert "too long" not in " ".join(faults.values()), "values are not repeated"

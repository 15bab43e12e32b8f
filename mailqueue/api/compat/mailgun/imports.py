"""Mailgun's API: import a file of bounces, complaints or unsubscribes, all of it or nothing."""

import io
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.mailgun.address_lists import LISTS, MailgunList
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import form_of
from mailqueue.api.compat.mailgun.suppressions import suppression_of
from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.suppression.lists.encoding import encoding_of
from mailqueue.suppression.lists.importing import LINES_PER_COMMIT, import_list
from mailqueue.suppression.lists.reading import ADDRESS_NAMES, read_records
from mailqueue.suppression.model import ImportTally

_FIELDS = ("code", "error", "tag", "tags")


def importing(one: MailgunList) -> Callable[[RequestContext], Awaitable[Response]]:
    """Return the handler that adds the addresses of a CSV file."""

    async def add(call: RequestContext) -> Response:
        await check_domain(call)
        form = await form_of(call)
        form.check_names(("file",))
        if len(form.files) != 1 or form.fields:
            raise MissingParameter("file")
        octets = form.files[0].octets
        listed = await call.in_turn(lambda: addresses_in(one, octets))
        async with call.connection() as conn:
            await import_list(
                conn,
                call.caller.project,
                file=io.BytesIO(listed),
                by=call.by,
                tally=ImportTally(),
            )
        message = "file uploaded successfully for processing. standby..."
        return json_answer({"message": message}, status=HTTPStatus.ACCEPTED)

    return add


def addresses_in(one: MailgunList, octets: bytes) -> bytes:
    """Return the addresses of a CSV file as a list in our form. Pure.

    Raises:
        NamedParameter: the file is no list, or a line is invalid; it is named.
    """
    file = io.BytesIO(octets)
    found: list[dict[str, Any]] = []
    try:
        for number, values in read_records(file, encoding_of(file)):
            if len(found) >= LINES_PER_COMMIT:
                raise NamedParameter("file", f"has more than {LINES_PER_COMMIT:,} lines")
            if isinstance(values, str):
                raise NamedParameter("file", f"line {number}: {values}")
            found.append(_line(one, number, values))
    except NamedParameter:
        raise
    except InvalidField as exc:
        raise NamedParameter("file", exc.why) from exc
    if not found:
        raise NamedParameter("file", "has no addresses")
    return write_json(found)


def _line(one: MailgunList, number: int, values: Mapping[str, object]) -> dict[str, Any]:
    address = next((values[name] for name in ADDRESS_NAMES if values.get(name)), "")
    known = one.model.model_fields
    given: dict[str, Any] = {name: values[name] for name in _FIELDS if values.get(name)}
    given = {name: text for name, text in given.items() if name in known}
    if isinstance(tags := given.get("tags"), str):
        given["tags"] = [tag.strip(" []\"'") for tag in tags.split(",")]
    try:
        new = suppression_of(one, {"address": address, **given})
    except InvalidField as exc:
        raise NamedParameter("file", f"line {number}: {exc.field}: {exc.why}") from exc
    shown = {"email": new.address.sent, "reason": new.reason.value}
    return shown if new.detail is None else {**shown, "detail": new.detail}


IMPORT_ENDPOINTS = tuple(
    suppression_endpoint(
        "POST", f"/v3/{{domain}}/{one.name}/import", f"Import {one.name}.", importing(one)
    )
    for one in LISTS
)

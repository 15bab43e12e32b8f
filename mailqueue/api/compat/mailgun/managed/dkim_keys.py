"""Mailgun's API: the DKIM keys of all domains of a project.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/domain-keys. A key signs
once its record is in DNS, and replaces the one that signed before; keys that were removed are not
shown.
"""

import asyncio
from operator import attrgetter

from starlette.responses import Response

from mailqueue.api.compat.domains import add_key, domains_of, remove_domain
from mailqueue.api.compat.mailgun.domains import check_name, key_shown
from mailqueue.api.compat.mailgun.faults import MissingParameter, NamedParameter
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.mailgun.pages import MailgunNamedPage, page_of, paging_of
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.dkim.keys import RSA_BITS, WrongKey, imported_rsa_key
from mailqueue.domains.model import DkimKey

MAX_PEM_BYTES = 16 * 1024


class MailgunKeyPage(MailgunNamedPage):
    """The query of the list of DKIM keys; `p` is the name of a key's record."""

    signing_domain: StorableText | None = None
    selector: StorableText | None = None


class MailgunKeyQuery(RequestModel):
    """The query that names a DKIM key."""

    signing_domain: StorableText | None = None
    selector: StorableText | None = None


async def index(call: RequestContext) -> Response:
    """List the keys that sign or wait for their record, by domain and selector."""
    query = query_of(call, MailgunKeyPage)
    found = await _chosen(call, query.signing_domain, query.selector)
    page = page_of(found, query, attrgetter("name"))
    given = {"signing_domain": query.signing_domain, "selector": query.selector}
    more = {name: text for name, text in given.items() if text is not None}
    paging = paging_of(call, query, [one.name for one in page], more=more)
    return json_answer({"items": [key_shown(one) for one in page], "paging": paging})


async def create(call: RequestContext) -> Response:
    """Add a key of a domain, generated or imported; it signs once its record is in DNS."""
    form = await form_of(call)
    form.check_names(("signing_domain", "selector", "bits", "pem"))
    given = {name: form.one(name) for name in ("signing_domain", "selector")}
    for name, text in given.items():
        if text is None:
            raise MissingParameter(name)
    domain, selector = given["signing_domain"] or "", given["selector"] or ""
    if (form.one("bits") or str(RSA_BITS)) != str(RSA_BITS):
        raise NamedParameter("bits", f"must be {RSA_BITS}")
    await check_name(call, domain)
    pem = _pem(form)
    try:
        private = None if pem is None else await asyncio.to_thread(imported_rsa_key, pem)
    except WrongKey as exc:
        raise NamedParameter("pem", str(exc)) from None
    return json_answer(key_shown(await added_key(call, domain, selector, private=private)))


async def added_key(
    call: RequestContext,
    domain: str,
    selector: str,
    *,
    private: bytes | None = None,
    field: str = "selector",
) -> DkimKey:
    """Return a new key of a domain of the project's; `field` is the parameter of its selector.

    Raises:
        NamedParameter: the selector is invalid or taken, a key waits for its record, or the
            private key (`pem`) is of another algorithm than the domain signs by.
    """
    chosen = await _chosen(call, domain, selector)
    if chosen:
        raise NamedParameter(field, f"{domain} has a key {chosen[0].selector} already")
    try:
        return await add_key(call, domain, selector=selector, private=private)
    except InvalidField as exc:
        raise NamedParameter("pem" if exc.field == "private" else field, exc.why) from exc
    except Conflict as exc:
        raise NamedParameter(field, str(exc)) from exc


async def remove(call: RequestContext) -> Response:
    """Remove a key: it is revoked."""
    query = query_of(call, MailgunKeyQuery)
    for name in ("signing_domain", "selector"):
        if not getattr(query, name):
            raise MissingParameter(name)
    found = await _chosen(call, query.signing_domain, query.selector)
    if not found:
        raise NotFound("DKIM key", query.selector)
    await remove_domain(call, found)
    return json_answer({"message": "success"})


def _pem(form: Form) -> bytes | None:
    """Return the private key of a form, which is a file or a field.

    Raises:
        NamedParameter: there are several, or it is too large.
    """
    files = [one.octets for one in form.files if one.field == "pem"]
    text = form.one("pem")
    given = [*files, *([] if text is None else [text.encode()])]
    if len(given) > 1:
        raise NamedParameter("pem", "may be given once")
    if given and len(given[0]) > MAX_PEM_BYTES:
        raise NamedParameter("pem", f"at most {MAX_PEM_BYTES} bytes")
    return given[0] if given else None


async def _chosen(call: RequestContext, domain: str | None, selector: str | None) -> list[DkimKey]:
    every = [one for keys in await domains_of(call) for one in keys]
    own = None if domain is None else domain.strip().rstrip(".").lower()
    found = [one for one in every if own in (None, one.domain) and selector in (None, one.selector)]
    return sorted(found, key=lambda one: (one.domain, one.selector))


_PATH = "/v1/dkim/keys"
DKIM_KEY_ENDPOINTS = (
    domain_endpoint("GET", _PATH, "List the DKIM keys of all domains.", index),
    domain_endpoint("POST", _PATH, "Add a DKIM key.", create),
    domain_endpoint("DELETE", _PATH, "Remove a DKIM key.", remove),
)

"""Pages that check a domain, and that make, replace and destroy its keys."""

from collections.abc import Mapping

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.domains.pages import DOMAIN, PATH, domain_in_path
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import checking, publication
from mailqueue.domains import keys as dkim_keys
from mailqueue.domains.findings import DomainFindings
from mailqueue.domains.model import DkimKey
from mailqueue.domains.resolver import Resolver
from mailqueue.tracking import domains as tracking_domains
from mailqueue.vault.masterkey import master_key_of
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

NEW = f"{PATH}/new"  # no domain of an address has one label
KEY = f"{DOMAIN}/keys/{{dkim_key}}"
_ALGORITHMS = (
    ("rsa", "RSA, which every receiver checks"),
    ("ed25519", "Ed25519, with a shorter record"),
)


async def check(context: PageContext) -> Response:
    """Look up all records of a domain; keys whose records are found begin to sign."""
    domain, settings = domain_in_path(context), context.console.settings
    resolver = Resolver(settings.name_servers)
    try:
        async with context.acting_once() as conn:
            all_keys = await dkim_keys.list_keys(conn, project=context.seen.name)
            links = await tracking_domains.project_of(conn, context.seen.name)
    except DoneBefore:
        return _done(context, domain, "before")
    mine = [key for key in all_keys if key.domain == domain]
    looked = await publication.look_up(mine, resolver)
    async with context.connection() as conn:
        settled = await publication.settle(conn, looked, by=context.user.by)
    findings = await checking.look(
        domain,
        [each.key for each in settled],
        resolver,
        also=tracking_domains.findings_about(
            domain, links, public_url=settings.tracking.public_url, resolver=resolver
        ),
    )
    async with context.connection() as conn:
        await checking.record(conn, DomainFindings(context.seen.name, domain, findings))
    return _done(context, domain, "checked")


async def ask_new(context: PageContext) -> Response:
    """Show the form of a new key."""
    return _new(
        context, {"domain": context.query("domain"), "algorithm": context.query("algorithm")}
    )


async def create(context: PageContext) -> Response:
    """Make a key for a domain."""
    typed = {name: text_of(context.form, name) for name in ("domain", "algorithm")}
    algorithms = {each.key_type: each for each in Algorithm}
    try:
        if typed["algorithm"] not in algorithms:
            raise InvalidField("algorithm", "must be one of those shown")
        domain, algorithm = dkim_keys.domain_of(typed["domain"]), algorithms[typed["algorithm"]]
        made = await dkim_keys.new_keys([algorithm])
        async with context.acting_once() as conn:
            await dkim_keys.create(
                conn,
                context.seen.name,
                domain=domain,
                algorithms=[algorithm],
                master=master_key_of(context.console.settings),
                by=context.user.by,
                made=made,
            )
    except DoneBefore:
        return _done(context, domain, "before")
    except InvalidField as exc:
        return _new(context, typed, {exc.field: sentence(exc.why)})
    except Conflict:
        why = "This domain has a key of this kind already: replace it on the page of the domain."
        return _new(context, typed, {"domain": why})
    return _done(context, domain, "added")


async def ask_rotation(context: PageContext) -> Response:
    """Show what replacing the keys of a domain does, and the form that does it."""
    domain = domain_in_path(context)
    async with context.connection() as conn:
        all_keys = await dkim_keys.list_keys(conn, project=context.seen.name)
    if all(key.domain != domain or key.status is DkimKeyStatus.REVOKED for key in all_keys):
        raise NotFound("DKIM key of", domain)
    return context.page("domains/rotate.html", domain=domain)


async def rotate(context: PageContext) -> Response:
    """Make a successor of each active key of a domain."""
    domain = domain_in_path(context)
    made = await dkim_keys.new_keys(Algorithm)
    try:
        async with context.acting_once() as conn:
            await dkim_keys.rotate(
                conn,
                context.seen.name,
                domain=domain,
                master=master_key_of(context.console.settings),
                by=context.user.by,
                made=made,
            )
    except DoneBefore:
        return _done(context, domain, "before")
    return _done(context, domain, "rotated")


async def ask_revoking(context: PageContext) -> Response:
    """Show what destroying a key does, and the form that does it."""
    return context.page("domains/revoke.html", key=await _key(context))


async def revoke(context: PageContext) -> Response:
    """Destroy a key."""
    key = await _key(context)
    try:
        async with context.acting_once() as conn:
            await dkim_keys.revoke(
                conn,
                context.seen.name,
                domain=key.domain,
                selector=key.selector,
                by=context.user.by,
            )
    except DoneBefore:
        return _done(context, key.domain, "before")
    return context.redirect(project_path(context.seen.name, "domains", done="revoked"))


async def _key(context: PageContext) -> DkimKey:
    key_id = context.id_in_path("dkim_key", "DKIM key")
    async with context.connection() as conn:
        key = await dkim_keys.get(conn, context.seen.name, key_id=key_id)
    if key.domain != domain_in_path(context) or key.status is DkimKeyStatus.REVOKED:
        raise NotFound("DKIM key", key_id)
    return key


def _new(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    return context.form_page(
        "domains/new.html",
        typed,
        faults,
        algorithms=_ALGORITHMS,
    )


def _done(context: PageContext, domain: str, what: str) -> Response:
    return context.redirect(project_path(context.seen.name, "domains", domain, done=what))


PAGES = (
    ConsolePage("GET", NEW, Right.CONFIGURE, ask_new),
    ConsolePage("POST", NEW, Right.CONFIGURE, create, keeps=("domain", "algorithm")),
    ConsolePage("POST", f"{DOMAIN}/check", Right.CONTROL, check),
    ConsolePage("GET", f"{DOMAIN}/rotate", Right.CONFIGURE, ask_rotation),
    ConsolePage("POST", f"{DOMAIN}/rotate", Right.CONFIGURE, rotate),
    ConsolePage("GET", f"{KEY}/revoke", Right.CONFIGURE, ask_revoking),
    ConsolePage("POST", f"{KEY}/revoke", Right.CONFIGURE, revoke, step_up=True),
)

"""Endpoints of sender accounts: create, show, change, prefer, remove."""

from dataclasses import replace
from http import HTTPStatus

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.senders.credentials import parse_credentials
from mailqueue.api.senders.routes import ROUTE_ENDPOINTS
from mailqueue.api.senders.schema import (
    ChangeSender,
    CreateSender,
    RoutingRules,
)
from mailqueue.api.senders.trial import TRIAL_ENDPOINTS
from mailqueue.api.senders.views import account_of, renamed
from mailqueue.api.senders.webhooks import RETURNS_ENDPOINTS
from mailqueue.contract.senders import Sender, Senders
from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import Provider
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope
from mailqueue.senders import accounts, changing
from mailqueue.senders.acceptable import changed
from mailqueue.senders.changing import SenderChange
from mailqueue.senders.model import Limits, SenderAccount
from mailqueue.senders.values import sender_of, senders_of
from mailqueue.vault.masterkey import master_key_of

PATH = "/v1/projects/{pid}/smtp-configs"
ONE = f"{PATH}/{{config_id}}"
_TAG = "Sender accounts"


async def create(call: RequestContext) -> Sender:
    """Add an account."""
    body: CreateSender = call.body
    with renamed():
        limits = changed(Limits(), body.limits())
    new = replace(
        parse_credentials(Provider(body.provider_type), body.credentials),
        name=body.name,
        email=body.from_email,
        display_name=body.from_name,
        priority=body.priority,
        is_fallback=body.is_fallback,
        limits=limits,
        notes=body.notes,
    )
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        with renamed(body.credentials):
            made = await changing.add(
                conn, new, project=call.caller.project, master=master, by=call.by
            )
            if not body.is_active:
                made = await accounts.pause(
                    conn, made.project, name=made.name, reason=f"by {call.by}", until=None
                )
            if body.routing_rules is not None:
                await _route(conn, made, body.routing_rules, by=call.by)
        return await sender_of(conn, made)


async def index(call: RequestContext) -> Senders:
    """List the accounts by priority."""
    async with call.connection() as conn:
        found = await accounts.list_all(conn, project=call.caller.project)
        return Senders(await senders_of(conn, call.caller.project, found))


async def show(call: RequestContext) -> Sender:
    """Return one account."""
    async with call.connection() as conn:
        return await sender_of(conn, await account_of(conn, call))


async def change(call: RequestContext) -> Sender:
    """Change an account."""
    body: ChangeSender = call.body
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        account = await account_of(conn, call)
        with renamed(body.credentials):
            after = await changing.change(
                conn,
                account.project,
                account_id=account.id,
                change=_change(body, account),
                master=master,
                by=call.by,
            )
            if "routing_rules" in body.model_fields_set:
                await _route(conn, after, body.routing_rules, by=call.by)
        return await sender_of(conn, after)


async def activate(call: RequestContext) -> Sender:
    """Make an account the first choice, and resume it."""
    async with call.connection() as conn:
        account = await account_of(conn, call)
        preferred = await changing.prefer(conn, account.project, account_id=account.id, by=call.by)
        return await sender_of(conn, preferred)


async def remove(call: RequestContext) -> None:
    """Remove an account and its credentials."""
    async with call.connection() as conn:
        account = await account_of(conn, call)
        await changing.remove(conn, account.project, account_id=account.id, by=call.by)


def _change(body: ChangeSender, account: SenderAccount) -> SenderChange:
    for name, is_now in (("name", account.name), ("provider_type", account.provider)):
        if name in body.model_fields_set and getattr(body, name) != is_now:
            raise InvalidField(name, f"cannot be changed, it is {is_now}")
    asked = body.named("priority", "is_fallback", "is_active", "notes")
    for ours, theirs in (("email", "from_email"), ("display_name", "from_name")):
        if theirs in body.model_fields_set:
            asked[ours] = getattr(body, theirs)
    if "credentials" in body.model_fields_set:
        asked["way"] = parse_credentials(account.provider, body.credentials)
    return SenderChange(limits=body.limits(), **asked)


async def _route(
    conn: Conn, account: SenderAccount, rules: RoutingRules | None, *, by: str
) -> None:
    await changing.route(
        conn,
        account,
        categories=None if rules is None else rules.categories,
        domains=None if rules is None else rules.domains,
        by=by,
    )


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.PROJECT_WRITE,
        "Add a sender account.",
        create,
        request=CreateSender,
        response=Sender,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={
            "name": "Internal SMTP Relay",
            "provider_type": "smtp",
            "priority": 10,
            "credentials": {
                "host": "smtp.example.com",
                "port": 587,
                "username": "user@example.com",
                "password": "…",
                "tls_mode": "starttls",
            },
        },
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.PROJECT_READ,
        "List sender accounts in the order in which they are tried.",
        index,
        response=Senders,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        ONE,
        Scope.PROJECT_READ,
        "Show a sender account, its credentials masked.",
        show,
        response=Sender,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        ONE,
        Scope.PROJECT_WRITE,
        "Change a sender account; omitted fields are unchanged.",
        change,
        request=ChangeSender,
        response=Sender,
        tag=_TAG,
        example={"priority": 20, "routing_rules": {"category": ["marketing"]}},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        ONE,
        Scope.PROJECT_WRITE,
        "Delete a sender account and its credentials; its queued emails use other accounts.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{ONE}/activate",
        Scope.PROJECT_WRITE,
        "Make a sender account the first that is tried, and activate it.",
        activate,
        response=Sender,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    *TRIAL_ENDPOINTS,
    *RETURNS_ENDPOINTS,
    *ROUTE_ENDPOINTS,
)

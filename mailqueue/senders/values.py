"""Sender accounts, their health and the results of their tests as callers see them."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from mailqueue.contract.senders import (
    Route,
    Sender,
    SenderCircuit,
    SenderRouting,
    SenderTest,
    SmtpLine,
)
from mailqueue.core.conversation import SaidBy
from mailqueue.core.errors import NotFound
from mailqueue.core.providers import Provider
from mailqueue.core.verdict import Accepted, AllRefused, Rejected, Verdict
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts, health
from mailqueue.senders.model import Headroom, SenderAccount, SenderHealth, SenderStatus
from mailqueue.senders.routes import manage as routes_manage
from mailqueue.senders.trial import SenderTestResult
from mailqueue.smtp.client.transcript import Transcript

MASK = "********"
_OF_CIRCUIT = {field.name for field in fields(SenderCircuit)} - {"circuit_state"}


async def sender_of(conn: Conn, account: SenderAccount) -> Sender:
    """Return an account.

    Raises:
        NotFound: its limit or its counters are missing.
    """
    everyone = await accounts.list_all(conn, project=account.project)
    found = await _senders(conn, account.project, everyone)
    for one in found:
        if one.id == account.public_id:
            return one
    raise NotFound("limit of sender account", account.name)


async def senders_of(conn: Conn, project: str, accounts: list[SenderAccount]) -> list[Sender]:
    """Return all accounts of a project, in the order of `accounts`, without the trap."""
    mine = [account for account in accounts if account.provider is not Provider.TRAP]
    return await _senders(conn, project, mine)


def are_trapped(accounts: Sequence[SenderAccount]) -> bool:
    """Return whether emails go to the mail trap: it serves projects without another account."""
    active = SenderStatus.ACTIVE
    return bool(accounts) and all(
        account.provider is Provider.TRAP and account.status is active for account in accounts
    )


async def _senders(conn: Conn, project: str, found: list[SenderAccount]) -> list[Sender]:
    today = await accounts.headroom_by_id(conn, found)
    circuits = {one.sender: one for one in await health.of_all(conn, project=project)}
    rules = await routes_manage.list_all(conn, project=project)
    usual = (one for one in found if not one.is_fallback and one.provider is not Provider.TRAP)
    first = next((one.id for one in usual), None)
    return [
        _sender(
            account,
            today[account.id],
            circuits[account.name],
            rules=[rule for rule in rules if account.name in rule.senders],
            is_primary=account.id == first,
        )
        for account in found
        if account.id in today and account.name in circuits  # its limit and counters are there
    ]


def _sender(
    account: SenderAccount,
    today: Headroom,
    circuit: SenderHealth,
    *,
    rules: Sequence[Route],
    is_primary: bool,
) -> Sender:
    return Sender(
        id=account.public_id,
        project_id=account.project_id,
        name=account.name,
        provider_type=account.provider,
        credentials=credentials_of(account),
        priority=account.priority,
        is_primary=is_primary,
        is_fallback=account.is_fallback,
        is_active=account.status is SenderStatus.ACTIVE,
        status=today.status,
        status_reason=account.status_reason,
        status_until=account.status_until,
        circuit_state=circuit.circuit,
        routing_rules=_routing(rules),
        from_email=account.email,
        from_name=account.display_name,
        daily_limit=account.daily_limit,
        sent_today=today.daily_sent,
        headroom=today.headroom,
        hourly_limit=account.hourly_limit,
        hourly_headroom=today.hourly_headroom,
        minute_limit=account.minute_limit,
        minute_headroom=today.minute_headroom,
        last_used_at=today.last_used_at,
        rate_limit_per_sec=account.rate_per_second,
        burst=account.allowed_burst,
        batch_size=account.batch_size,
        send_delay_ms=account.send_delay_ms,
        max_connections=account.max_connections,
        time_zone=account.time_zone,
        warm_up=None if account.warm_up is None else list(account.warm_up),
        notes=account.notes,
        created_at=account.created_at,
        updated_at=account.updated_at,
    )


def _routing(rules: Sequence[Route]) -> SenderRouting | None:
    """Return the routing of an account from its rules; rules by tag are not shown here."""
    mine = [rule for rule in rules if rule.tag is None]
    if not mine:
        return None
    categories = list(dict.fromkeys(rule.category for rule in mine if rule.category))
    domains = list(dict.fromkeys(rule.domain for rule in mine if rule.domain))
    return SenderRouting(categories or None, domains or None)


def credentials_of(account: SenderAccount) -> dict[str, Any]:
    """Return an account's credentials without secrets, under the names of the request."""
    settings = dict(account.provider_settings or {})
    secret = None if account.smtp_password is None else MASK
    match account.provider:
        case Provider.SMTP:
            login = "grant" if settings.get("auth") == "xoauth2" else "password"
            return {
                "host": account.smtp_host,
                "port": account.smtp_port,
                "tls_mode": account.smtp_tls,
                "username": account.smtp_username,
                login: secret,
                **({"token_url": settings["token_url"]} if "token_url" in settings else {}),
            }
        case Provider.SES:
            named = {"region": settings.pop("region", None)}
            named["access_key_id"] = (account.smtp_username or "")[:4] + MASK
            named |= {"secret_access_key": secret}
        case Provider.MAILGUN:
            named = {"api_key": secret, "domain": settings.pop("domain", None)}
        case Provider.POSTMARK:
            named = {"server_token": secret}
        case Provider.GMAIL:
            named = {"mailbox": account.smtp_username, "grant": secret}
        case _:
            named = {"api_key": secret}
            if account.provider.facts.username:
                named["username"] = account.smtp_username
    return named | {"api_url": account.api_url, "settings": settings}


def circuit_of(health: SenderHealth) -> SenderCircuit:
    """Return the circuit of an account and its recent failures."""
    values = {name: getattr(health, name) for name in _OF_CIRCUIT}
    return SenderCircuit(circuit_state=health.circuit, **values)


def test_of(trial: SenderTestResult, transcript: Transcript) -> SenderTest:
    """Return the result of a test, with the lines of the SMTP conversation."""
    verdict = trial.verdict
    said = verdict if isinstance(verdict, Accepted) else _refusal(verdict)
    refused = said if isinstance(said, Rejected) else None
    detail = said.reply if isinstance(said, Accepted) else refused.detail if refused else None
    return SenderTest(
        success=trial.is_ok,
        sent=None if trial.send_ms is None else trial.is_ok,
        connect_ms=trial.connect_ms,
        send_ms=trial.send_ms,
        kind=refused.kind if refused else None,
        code=said.code if said else None,
        detail=detail,
        stage=refused.stage if refused else None,
        transcript=[
            SmtpLine(line.by, line.text) for line in transcript.lines if line.by != SaidBy.NOTE
        ],
    )


def _refusal(verdict: Verdict | None) -> Rejected | None:
    match verdict:
        case Rejected():
            return verdict
        case AllRefused():
            return verdict.refused[0].why
        case _:
            return None

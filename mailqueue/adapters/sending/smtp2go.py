"""SMTP2GO, POST /v3/email/send with fields: its request for whole messages returns no id.

Follows developers.smtp2go.com and the vendor's OpenAPI file, read in November 2026.
"""

import base64
from collections.abc import Sequence
from typing import Any

import orjson

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending import outcomes
from mailqueue.adapters.sending.api import ProviderAccount, ProviderApi, ProviderMail, tags_of
from mailqueue.adapters.sending.limits import ProviderLimits, objection, of_account
from mailqueue.adapters.sending.outcomes import cannot_carry
from mailqueue.adapters.sending.parts import MessageAttachment, Parts, mailbox, parts_of
from mailqueue.core.limits import limit_in
from mailqueue.core.verdict import Accepted, AllRefused, Refused, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

PATH = "/v3/email/send"
ID_HEADER = "X-Mailqueue-Id"
TAG_HEADER = "X-Mailqueue-Tag"
BOUNDS = ProviderLimits(
    "SMTP2GO",
    takes_unicode=True,
    no_headers=frozenset({"content-type", "content-transfer-encoding", "mime-version"}),
)
MAX_RECIPIENTS_IN_FIELD = 100
RESERVED_FIELDS = frozenset(
    {"cc", "bcc", "text_body", "html_body", "custom_headers", "attachments", "inlines"}
)

MEANING_BY_CODE = {
    "ENDPOINT_PERMISSION_DENIED": outcomes.ACCOUNT,
    "REQ_LIMIT_EXCEEDED": outcomes.RATE_LIMITED,
    "NON_VALIDATING_IN_PAYLOAD": outcomes.MESSAGE,
}
_ABOUT_US = ("account", "sender", "api key", "api_key")
_RECIPIENT_FIELDS = ("to", "cc", "bcc")


class Smtp2go(ProviderApi):
    """The API for one key."""

    def __init__(self, access: ProviderAccount) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self.site = access.site or HttpOrigin("https", "api.smtp2go.com", 443)
        self.secrets = (access.secret,)
        self._access = access

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        parts = parts_of(mail)
        if not parts.to:
            return cannot_carry("SMTP2GO needs a recipient in to, but only blind copies remain")
        if not parts.text and not parts.html:
            return cannot_carry("SMTP2GO accepts no email without a text")
        for field in _RECIPIENT_FIELDS:
            if (count := len(getattr(parts, field))) > MAX_RECIPIENTS_IN_FIELD:
                return cannot_carry(
                    f"SMTP2GO takes at most {MAX_RECIPIENTS_IN_FIELD} in {field}, not {count}"
                )
        octets = orjson.dumps(self._body(mail, parts))
        refused = objection(
            self._bounds, mail, octets=len(octets), headers=[name for name, _ in parts.headers]
        )
        return refused or ProviderMail(mail, octets)

    def _body(self, mail: SendAttempt, parts: Parts) -> dict[str, Any]:
        headers = [*parts.headers, (ID_HEADER, str(mail.email_id))]
        headers += [(TAG_HEADER, tag) for tag in tags_of(mail)]
        if parts.message_id and self._access.settings.get("keep_message_id", True):
            headers.append(("Message-ID", parts.message_id))
        if parts.reply_to:
            headers.append(("Reply-To", ", ".join(mailbox(one) for one in parts.reply_to)))
        body: dict[str, Any] = {
            **self._access.extra(but=RESERVED_FIELDS),
            "sender": mailbox(parts.sender),
            "to": [mailbox(one) for one in parts.to],
            "subject": parts.subject,
        }
        named = {
            "cc": [mailbox(one) for one in parts.cc],
            "bcc": [mailbox(one) for one in parts.bcc],
            "text_body": parts.text,
            "html_body": parts.html,
            "custom_headers": [{"header": name, "value": value} for name, value in headers],
            "attachments": [_file(one, one.name) for one in parts.files if not one.content_id],
            # The HTML refers to these by name.
            "inlines": [_file(one, one.content_id) for one in parts.files if one.content_id],
        }
        return body | {name: value for name, value in named.items() if value}

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        headers = (
            ("X-Smtp2go-Api-Key", self._access.secret.reveal()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
        )
        return HttpRequest("POST", PATH, headers, group[0].octets)

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        return [_judged(group[0].mail, answer)]


def _file(file: MessageAttachment, name: str) -> dict[str, str]:
    return {
        "filename": name,
        "fileblob": base64.b64encode(file.octets).decode(),
        "mimetype": file.content_type,
    }


def _judged(mail: SendAttempt, answer: HttpResponse) -> Verdict:
    parsed = answer.document()
    parsed = parsed if isinstance(parsed, dict) else {}
    data = parsed.get("data")
    data = data if isinstance(data, dict) else {}
    if answer.is_success and isinstance(data.get("succeeded"), int):
        return _counted(mail, answer, data)
    code = str(data.get("error_code") or parsed.get("error_code") or "").rpartition(".")[2]
    text = str(data.get("error") or parsed.get("error") or "")
    if answer.status < 400 or not (code or text):
        return outcomes.not_understood(answer)
    detail = f"{code}: {text}" if code else text
    if code == "NON_VALIDATING_IN_PAYLOAD" and _is_about_recipient(data, parsed):
        return outcomes.about_recipient(mail, answer, detail)
    is_general = code == "API_EXCEPTION" and limit_in(text) is None
    if is_general and any(word in text.lower() for word in _ABOUT_US):
        return outcomes.refused(answer, outcomes.SENDER, detail)
    known = MEANING_BY_CODE.get(code) if answer.status == 400 else None
    meaning = known or outcomes.meaning_of(answer.status, detail)
    return outcomes.refused(answer, meaning, detail)


def _counted(mail: SendAttempt, answer: HttpResponse, data: dict[str, Any]) -> Verdict:
    """Parse the number of accepted recipients and the list of refused ones.

    Recipients that were refused without being named count as sent: a second attempt would reach
    the others twice, and SMTP2GO names them in a `reject` event.
    """
    failures = [str(one) for one in data.get("failures") or []]
    words = "; ".join(failures)
    message_id = data.get("email_id")
    why = outcomes.refused(answer, outcomes.RECIPIENT, words or "refused without a reason")
    if not data["succeeded"]:
        return outcomes.nobody_takes(mail, why)
    refused = tuple(Refused(one, why) for one in outcomes.named_in(words, mail.envelope.recipients))
    if len(refused) == len(mail.envelope.recipients):
        return why if len(refused) == 1 else AllRefused(refused)
    failed = data.get("failed")
    unnamed = (failed if isinstance(failed, int) else len(failures)) - len(refused)
    if unnamed > 0:
        words = f"{unnamed} of {len(mail.envelope.recipients)} refused, not named: {words or '-'}"
    return Accepted(
        "200",
        outcomes.cleaned(words) or "accepted",
        provider_message_id=message_id if isinstance(message_id, str) else None,
        refused=refused,
    )


def _is_about_recipient(data: dict[str, Any], parsed: dict[str, Any]) -> bool:
    errors = data.get("field_validation_errors") or parsed.get("field_validation_errors")
    found = errors if isinstance(errors, list) else [errors]
    names = {
        str(each.get("fieldname") or next(iter(each), ""))
        for each in found
        if isinstance(each, dict)
    }
    return bool(names) and all(
        name.split(".")[0].split("[")[0] in _RECIPIENT_FIELDS for name in names
    )

"""SparkPost, POST /api/v1/transmissions, the message as it is.

Follows developers.sparkpost.com/api/transmissions, "RFC 822 Content" and "Errors".
"""

from collections.abc import Sequence
from typing import Any

import orjson

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending import outcomes
from mailqueue.adapters.sending.api import (
    ProviderAccount,
    ProviderApi,
    ProviderMail,
    metadata_of,
    tags_of,
)
from mailqueue.adapters.sending.limits import MEGABYTE, ProviderLimits, objection, of_account
from mailqueue.adapters.sending.outcomes import Meaning
from mailqueue.core.verdict import Accepted, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

PATH = "/api/v1/transmissions"
BOUNDS = ProviderLimits("SparkPost", octets=20 * MEGABYTE, tags=10)
NO_RECIPIENT = "5001"
MEANING_BY_CODE = {
    "1300": outcomes.MESSAGE,  # invalid data format or type
    "1400": outcomes.MESSAGE,  # required field is missing
    "2102": outcomes.PAUSED,  # exceeded sending limit
    "7001": outcomes.SENDER,  # unconfigured sending domain
}


class Sparkpost(ProviderApi):
    """The API of SparkPost for one key."""

    def __init__(self, access: ProviderAccount) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self.site = access.site or HttpOrigin("https", "api.sparkpost.com", 443)
        self.secrets = (access.secret,)
        self._access = access

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        try:
            message = mail.message.decode()
        except UnicodeDecodeError:
            return outcomes.cannot_carry("SparkPost takes messages in UTF-8 only")
        tags = list(tags_of(mail))
        recipients = [{"address": {"email": one}, "tags": tags} for one in mail.envelope.recipients]
        body: dict[str, Any] = {
            "recipients": recipients,
            "content": {"email_rfc822": message},
            "metadata": metadata_of(mail),
        }
        if self._access.setting("ip_pool"):
            body["options"] = {"ip_pool": self._access.setting("ip_pool")}
        octets = orjson.dumps(body)
        refused = objection(self._bounds, mail, octets=len(octets))
        return refused or ProviderMail(mail, octets)

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        headers = (
            ("Authorization", self._access.secret.reveal()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
        )
        return HttpRequest("POST", PATH, headers, group[0].octets)

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        return [_judged(group[0].mail, answer)]


def _judged(mail: SendAttempt, answer: HttpResponse) -> Verdict:
    said = answer.document()
    said = said if isinstance(said, dict) else {}
    results = said.get("results")
    if answer.is_success and isinstance(results, dict) and isinstance(results.get("id"), str):
        return Accepted("200", "accepted", "", results["id"])
    errors = said.get("errors")
    if answer.status < 400 or not isinstance(errors, list) or not errors:
        return outcomes.not_understood(answer)
    first = errors[0] if isinstance(errors[0], dict) else {}
    words = [str(first[name]) for name in ("message", "description") if first.get(name)]
    detail, code = ": ".join(words), str(first.get("code") or "")
    if code == NO_RECIPIENT:
        return outcomes.about_recipient(mail, answer, detail)
    return outcomes.refused(answer, _meaning(answer, code, detail), detail)


def _meaning(answer: HttpResponse, code: str, detail: str) -> Meaning:
    if answer.status == 403:  # the key lacks the grant to send
        return outcomes.ACCOUNT
    return MEANING_BY_CODE.get(code) or outcomes.meaning_of(answer.status, detail)

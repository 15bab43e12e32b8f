"""Calls a provider's adapter; what it raises is the verdict of the emails it was called for."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mailqueue.adapters.http.connection import HttpConnection
from mailqueue.adapters.http.model import HttpResponse
from mailqueue.adapters.sending.api import ProviderApi, ProviderMail
from mailqueue.adapters.sending.outcomes import cannot_carry, not_understood, of_copies
from mailqueue.adapters.sending.parts import TooManyParts, copies_of
from mailqueue.adapters.sending.redaction import redacted
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.ports.transport import SendAttempt
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)


class CheckedApi:
    """The API of one provider for one account, without exceptions.

    An email that cannot be written or requested is retried as its project's retry schedule says:
    nothing was handed over, and the account's settings may be at fault. A response that cannot be
    read leaves the outcomes of its request unknown if its status is 2xx; other statuses
    are judged by themselves.
    """

    def __init__(self, service: ProviderApi) -> None:
        self._service = service

    async def authorise(self) -> Rejected | None:
        """Obtain an access token if the provider needs one; return a Rejected if that fails."""
        try:
            return await self._service.authorise()
        except Exception as exc:
            log.exception("provider.not_authorised", provider=self._name)
            why = f"{type(exc).__name__} while an access token was obtained"
            return Rejected(Fault.TRANSIENT, "", why, Stage.CONNECT)

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        """Return the email in the provider's format, or a Rejected with the reason."""
        try:
            return self._service.write(mail)
        except TooManyParts as exc:
            return cannot_carry(str(exc))
        except Exception as exc:
            return self._unsendable([mail], exc, "composing for the provider")

    def copies(self, mail: SendAttempt) -> list[SendAttempt]:
        """Return an email for each recipient if the provider takes only those, else none."""
        try:
            return copies_of(mail)
        except Exception as exc:
            self._unsendable([mail], exc, "reading its recipients")
            return []

    async def ask(
        self,
        connection: HttpConnection,
        group: Sequence[ProviderMail],
        *,
        may_finish: Callable[[], bool],
    ) -> HttpResponse | Rejected:
        """Send these emails in one request and return its response.

        A Rejected of kind UNRECOGNIZED may be the fault of one of them; nothing was sent.
        """
        asked = list[bool]()

        def may_ask() -> bool:
            asked.append(may_finish())
            return asked[-1]

        try:
            return await connection.ask(self._service.call(group), may_finish=may_ask)
        except Exception as exc:
            if not any(asked):
                return self._unsendable([one.mail for one in group], exc, "building its request")
            connection.close()
            emails = [str(one.mail.email_id) for one in group]
            log.exception("provider.not_asked", provider=self._name, email_ids=emails)
            return _doubt(f"{type(exc).__name__} while its request was sent")

    def renew(self, answer: HttpResponse) -> bool:
        """Return whether to repeat the request: a token expired, or the local clock was wrong."""
        try:
            return self._service.renew(answer)
        except Exception:  # the response is judged as it is
            log.exception("provider.response_unreadable", provider=self._name, status=answer.status)
            return False

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        """Return the verdict of each email, in order."""
        try:
            verdicts = self._service.judge(group, answer)
            if len(verdicts) == len(group):
                return [self._without_secrets(verdict) for verdict in verdicts]
            raise ValueError(f"{len(verdicts)} verdicts of {len(group)} emails")
        except Exception as exc:
            emails = [str(one.mail.email_id) for one in group]
            log.exception(
                "provider.response_unreadable",
                provider=self._name,
                status=answer.status,
                email_ids=emails,
            )
            if not answer.is_success:
                return [self._redacted(not_understood(answer))] * len(group)
            why = f"{type(exc).__name__} while its response was read"
            return [_doubt(why, str(answer.status))] * len(group)

    def of_copies(self, mail: SendAttempt, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the verdict of an email that was sent to each of its recipients separately."""
        try:
            return of_copies(mail, verdicts)
        except Exception as exc:
            log.exception("provider.response_unreadable", email_ids=[str(mail.email_id)])
            return _doubt(f"{type(exc).__name__} while its responses were read")

    def _without_secrets(self, verdict: Verdict) -> Verdict:
        """Redact credentials that the response echoed."""
        if isinstance(verdict, Rejected):
            return self._redacted(verdict)
        refused = tuple(replace(one, why=self._redacted(one.why)) for one in verdict.refused)
        if isinstance(verdict, Accepted):
            reply = redacted(verdict.reply, self._service.secrets)
            return verdict._replace(reply=reply, refused=refused)
        return verdict._replace(refused=refused)

    def _redacted(self, why: Rejected) -> Rejected:
        return replace(why, detail=redacted(why.detail, self._service.secrets))

    @property
    def _name(self) -> str:
        return type(self._service).__name__

    def _unsendable(self, mails: Sequence[SendAttempt], fault: Exception, doing: str) -> Rejected:
        emails = [str(mail.email_id) for mail in mails]
        log.exception("provider.not_written", provider=self._name, email_ids=emails)
        return Rejected(
            Fault.UNRECOGNIZED, "", f"{type(fault).__name__} while {doing}", Stage.CONNECT
        )


def _doubt(why: str, code: str = "") -> Rejected:
    return Rejected(Fault.AMBIGUOUS, code, why, Stage.DOT)

"""Every provider as documented: how it accepts a mail, and how it refuses one."""

from collections.abc import Mapping
from typing import Any

from mailqueue.adapters.http.model import HttpOrigin
from mailqueue.adapters.sending.api import ProviderAccount
from mailqueue.adapters.sending.gmail import Gmail
from mailqueue.adapters.sending.mailgun import Mailgun
from mailqueue.adapters.sending.postmark import Postmark
from mailqueue.adapters.sending.resend import Resend
from mailqueue.adapters.sending.sendgrid import SendGrid
from mailqueue.adapters.sending.ses import Ses
from mailqueue.adapters.sending.smtp2go import Smtp2go
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Fault
from tests.adapters.sending.documented import ANN, KEY, DocumentedProvider, KnownToken, Refusal
from tests.adapters.sending.fake import FakeReply, says


def _access(site: HttpOrigin, settings: Mapping[str, Any], *, key_id: str = "") -> ProviderAccount:
    return ProviderAccount(Secret(KEY), key_id, site, settings)


def _ses_error(name: str, text: str = "no") -> dict[str, str]:
    return {"__type": f"com.amazonaws.sesv2#{name}", "message": text}


T, R, A = Fault.TRANSIENT, Fault.RATE_LIMITED, Fault.AMBIGUOUS
M, P, X = Fault.PERMANENT_MESSAGE, Fault.PERMANENT_RECIPIENT, Fault.ACCOUNT
U = Fault.UNRECOGNIZED

SES = DocumentedProvider(
    "ses",
    lambda site, settings: Ses(_access(site, settings, key_id="AKIDEXAMPLE")),
    says(200, {"MessageId": "0100018f"}),
    "0100018f",
    (
        Refusal(429, _ses_error("TooManyRequestsException", "Maximum sending rate exceeded."), R),
        Refusal(400, _ses_error("ThrottlingException", "Daily message quota exceeded."), R),
        Refusal(400, _ses_error("LimitExceededException"), R),
        Refusal(400, _ses_error("AccountSuspendedException"), X, True),
        Refusal(400, _ses_error("SendingPausedException"), R),
        Refusal(400, _ses_error("MailFromDomainNotVerifiedException"), X),
        Refusal(400, _ses_error("MessageRejected", "Email address is not verified. a@b.c"), X),
        Refusal(400, _ses_error("MessageRejected", "virus"), M),
        Refusal(400, _ses_error("BadRequestException", "Illegal header"), M),
        Refusal(400, _ses_error("BadRequestException", f"Illegal address {ANN}"), P),
        Refusal(404, _ses_error("NotFoundException", "Configuration set"), R),
        Refusal(403, _ses_error("SignatureDoesNotMatch"), X, True),
        Refusal(403, _ses_error("UnrecognizedClientException"), X, True),
        Refusal(403, _ses_error("InvalidClientTokenId"), X, True),
        Refusal(403, _ses_error("AccessDeniedException"), X),
        Refusal(400, _ses_error("IncompleteSignature"), X, True),
        Refusal(403, _ses_error("ExpiredTokenException"), X, True),
        Refusal(403, _ses_error("RequestExpired"), R),
        Refusal(500, _ses_error("InternalServiceErrorException"), T),
        Refusal(503, _ses_error("ServiceUnavailable"), T),
        Refusal(
            400,
            {"Message": "paused"},
            R,
            headers={"x-amzn-ErrorType": "SendingPausedException:http://example.com/"},
        ),
    ),
)


def _sg(message: str, field: str | None = None) -> dict[str, Any]:
    return {"errors": [{"message": message, "field": field, "help": None}]}


SENDGRID = DocumentedProvider(
    "sendgrid",
    lambda site, settings: SendGrid(_access(site, settings)),
    FakeReply(202, b"", {"X-Message-Id": "14c5d75ce93.dfd.64b469"}),
    "14c5d75ce93.dfd.64b469",
    (
        Refusal(400, _sg("bad subject", "subject"), M),
        Refusal(400, _sg("no address", "personalizations.0.to.0.email"), P),
        Refusal(401, _sg("Maximum credits exceeded"), R),
        Refusal(403, _sg("Too many bad requests. Temporary block"), R),
        Refusal(401, _sg("The provided authorization grant is invalid"), X, True),
        Refusal(403, _sg("The from address does not match a verified Sender", "from"), X),
        Refusal(403, _sg("access forbidden"), X, True),
        Refusal(404, _sg("not found"), U),
        Refusal(405, _sg("method not allowed"), U),
        Refusal(413, _sg("too large"), M),
        Refusal(429, _sg("too many requests"), R),
        Refusal(500, _sg("internal"), A),
        Refusal(503, _sg("unavailable"), T),
    ),
)
MAILGUN = DocumentedProvider(
    "mailgun",
    lambda site, settings: Mailgun(_access(site, {"domain": "mg.example.com", **settings})),
    says(200, {"id": "<2026@mg.example.com>", "message": "Queued. Thank you."}),
    "<2026@mg.example.com>",
    (
        Refusal(400, {"message": "'to' parameter is not a valid address. please check"}, P),
        Refusal(400, {"message": "from parameter is missing"}, M),
        Refusal(400, {"message": "Sandbox subdomains are for test purposes only."}, X),
        Refusal(401, b"Forbidden", X, True),
        Refusal(402, {"message": "Request failed"}, U),
        Refusal(404, {"message": "Domain not found: mg.example.com"}, R),
        Refusal(413, b"too large", M),
        Refusal(429, {"message": "Too many requests"}, R),
        Refusal(500, b"", A),
        Refusal(502, b"<html>", A),
        Refusal(503, b"", T),
        Refusal(504, b"", A),
        Refusal(403, {"message": "Please add the address to your authorized recipients"}, X),
        Refusal(403, {"message": "Domain mg.example.com is disabled"}, X, True),
        Refusal(
            420,
            {"message": "Domain mg.example.com is not allowed to send: recipient limit exceeded"},
            R,
        ),
    ),
)


def _pm(code: int, text: str = "no") -> dict[str, Any]:
    return {"ErrorCode": code, "Message": text}


POSTMARK = DocumentedProvider(
    "postmark",
    lambda site, settings: Postmark(_access(site, settings)),
    says(
        200,
        {"To": ANN, "SubmittedAt": "x", "MessageID": "b7bc2f4a", "ErrorCode": 0, "Message": "OK"},
    ),
    "b7bc2f4a",
    (
        Refusal(401, _pm(10), X, True),
        Refusal(422, _pm(10), X, True),
        Refusal(503, _pm(100), T),
        Refusal(422, _pm(300, "Invalid 'To' address: 'x'."), P),
        Refusal(422, _pm(300, "Error parsing 'Cc': x"), P),
        Refusal(422, _pm(300, "Invalid 'From' address: 'x'."), M),
        Refusal(422, {**_pm(11), "Errors": [_pm(406)]}, P, hard=True),
        Refusal(422, _pm(400), X),
        Refusal(422, _pm(401), X),
        Refusal(422, _pm(402), M),
        Refusal(422, _pm(403), M),
        Refusal(422, _pm(405), R),
        Refusal(422, _pm(406, "inactive"), P, hard=True),
        Refusal(422, _pm(409), M),
        Refusal(422, _pm(410), M),
        Refusal(422, _pm(411), M),
        Refusal(422, _pm(412), X),
        Refusal(422, _pm(413), X, True),
        Refusal(422, _pm(1235), R),
        Refusal(422, _pm(1236), R),
        Refusal(413, b"", M),
        Refusal(403, b"<html>blocked</html>", T),
        Refusal(429, b"", R),
        Refusal(500, _pm(0), A),
    ),
)


def _rs(status: int, name: str) -> dict[str, Any]:
    return {"statusCode": status, "name": name, "message": "no"}


RESEND = DocumentedProvider(
    "resend",
    lambda site, settings: Resend(_access(site, settings)),
    says(200, {"id": "49a3999c-0ce1"}),
    "49a3999c-0ce1",
    (
        Refusal(400, _rs(400, "invalid_idempotency_key"), M),
        Refusal(400, _rs(400, "validation_error"), M),
        Refusal(401, _rs(401, "missing_api_key"), X, True),
        Refusal(401, _rs(401, "restricted_api_key"), X, True),
        Refusal(403, _rs(403, "invalid_api_key"), X, True),
        Refusal(403, _rs(403, "validation_error"), X),
        Refusal(404, _rs(404, "not_found"), U),
        Refusal(405, _rs(405, "method_not_allowed"), U),
        Refusal(409, _rs(409, "concurrent_idempotent_requests"), T),
        Refusal(422, _rs(422, "invalid_attachment"), M),
        Refusal(422, _rs(422, "invalid_from_address"), M),
        Refusal(422, _rs(422, "invalid_parameter"), M),
        Refusal(422, _rs(422, "missing_required_field"), M),
        Refusal(422, _rs(422, "validation_error"), M),
        Refusal(422, _rs(422, "invalid_access"), M),
        Refusal(422, _rs(422, "invalid_region"), M),
        Refusal(429, _rs(429, "rate_limit_exceeded"), R),
        Refusal(429, _rs(429, "daily_quota_exceeded"), R),
        Refusal(429, _rs(429, "monthly_quota_exceeded"), R),
        Refusal(451, _rs(451, "security_error"), U),
        Refusal(500, _rs(500, "application_error"), T),
        Refusal(500, _rs(500, "internal_server_error"), T),
    ),
)


def _s2(name: str, text: str = "no", **more: Any) -> dict[str, Any]:
    return {
        "request_id": "r",
        "data": {"error": text, "error_code": f"E_ApiResponseCodes.{name}", **more},
    }


SMTP2GO = DocumentedProvider(
    "smtp2go",
    lambda site, settings: Smtp2go(_access(site, settings)),
    says(
        200,
        {
            "request_id": "r",
            "data": {"succeeded": 1, "failed": 0, "failures": [], "email_id": "1r"},
        },
    ),
    "1r",
    (
        Refusal(400, _s2("ENDPOINT_PERMISSION_DENIED"), X, True),
        Refusal(
            400,
            _s2("NON_VALIDATING_IN_PAYLOAD", field_validation_errors={"fieldname": "subject"}),
            M,
        ),
        Refusal(
            400, _s2("NON_VALIDATING_IN_PAYLOAD", field_validation_errors={"fieldname": "to"}), P
        ),
        Refusal(400, _s2("API_EXCEPTION", "something odd"), U),
        Refusal(400, _s2("API_EXCEPTION", "sender domain not verified"), X),
        Refusal(401, {"error": "no", "error_code": "E_ApiResponseCodes.X"}, X, True),
        Refusal(402, {"error": "no"}, R),
        Refusal(403, {"error": "no"}, U),
        Refusal(429, _s2("REQ_LIMIT_EXCEEDED"), R),
        Refusal(429, {"error": "API key ratelimit exceeded"}, R),
        Refusal(500, b"", A),
        Refusal(503, b"", T),
        Refusal(200, {"data": {"succeeded": 0, "failed": 1, "failures": ["bad address"]}}, P),
    ),
)


def _gm(code: int, reason: str, message: str = "no") -> dict[str, Any]:
    listed = [{"domain": "global", "reason": reason, "message": message}]
    return {"error": {"code": code, "message": message, "errors": listed}}


GMAIL = DocumentedProvider(
    "gmail",
    lambda site, settings: Gmail(ProviderAccount(Secret("{}"), "", site, settings), KnownToken()),
    says(200, {"id": "18c", "threadId": "18c", "labelIds": ["SENT"]}),
    "18c",
    (
        Refusal(401, _gm(401, "authError"), X, True),
        Refusal(400, _gm(400, "invalidArgument", "Invalid To header"), P),
        Refusal(400, _gm(400, "invalidArgument", "Recipient address required"), P),
        Refusal(400, _gm(400, "failedPrecondition", "Mail service not enabled"), X, True),
        Refusal(400, _gm(400, "invalidArgument", "Invalid raw"), M),
        Refusal(403, _gm(403, "rateLimitExceeded"), R),
        Refusal(403, _gm(403, "userRateLimitExceeded"), R),
        Refusal(403, _gm(403, "dailyLimitExceeded"), R),
        Refusal(403, _gm(403, "quotaExceeded"), R),
        Refusal(403, _gm(403, "domainPolicy"), X, True),
        Refusal(403, _gm(403, "insufficientPermissions"), X, True),
        Refusal(403, _gm(403, "accessNotConfigured"), X, True),
        Refusal(403, _gm(403, "forbidden"), U),
        Refusal(404, _gm(404, "notFound"), U),
        Refusal(413, _gm(413, "uploadTooLarge"), M),
        Refusal(429, _gm(429, "rateLimitExceeded"), R),
        Refusal(429, _gm(429, "", "Too many concurrent requests for user"), R),
        Refusal(
            429,
            _gm(
                429,
                "x",
                "User-rate limit exceeded. Retry after 2099-01-01T00:00:00Z (Mail sending)",
            ),
            R,
        ),
        Refusal(500, _gm(500, "backendError"), A),
        Refusal(502, b"", A),
        Refusal(503, _gm(503, "backendError"), A),
        Refusal(
            403,
            {"error": {"code": 403, "message": "m", "details": [{"reason": "rateLimitExceeded"}]}},
            R,
        ),
    ),
)

PROVIDERS = (SES, SENDGRID, MAILGUN, POSTMARK, RESEND, SMTP2GO, GMAIL)

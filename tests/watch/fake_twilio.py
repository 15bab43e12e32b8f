"""Twilio's Messages resource on loopback: checks requests as documented, and keeps the messages."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import orjson

from tests.adapters.sending.fake import Fake, FakeReply, Request, fake, says
from tests.watch.watching import ACCOUNT, AUTH_TOKEN, SENDER

PATH = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"


@dataclass
class FakeTwilio:
    """Messages that were taken. `script` has answers that come before the usual one."""

    messages: list[dict[str, str]] = field(default_factory=list)
    script: list[FakeReply | Callable[[Request], FakeReply]] = field(default_factory=list)
    server: Fake | None = None

    @property
    def port(self) -> int:
        assert self.server is not None
        return self.server.port

    def answer(self, request: Request) -> FakeReply:
        if self.script:
            scripted = self.script.pop(0)
            return scripted if isinstance(scripted, FakeReply) else scripted(request)
        pair = base64.b64encode(f"{ACCOUNT}:{AUTH_TOKEN}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {pair}":
            return fault(401, 20003)
        if request.path != PATH or request.method != "POST":
            return fault(404, 20404)
        assert request.headers["content-type"].startswith("application/x-www-form-urlencoded")
        fields = dict(parse_qsl(request.body.decode("ascii"), strict_parsing=True))
        code = fault_of(fields)
        if code is not None:
            return fault(400, code)
        self.messages.append(fields)
        answer = {
            "sid": message_id(len(self.messages)),
            "account_sid": ACCOUNT,
            "status": "queued",
            "error_code": None,
            "error_message": None,
            "to": fields["To"],
            "from": fields["From"],
        }
        return says(201, answer)


def message_id(number: int) -> str:
    """Return the id of the n-th message."""
    return f"SM{number:032x}"


def fault(status: int, code: int, **headers: str) -> FakeReply:
    """Return the answer to a request that is refused."""
    message = "The number whatsapp:+15550000002 is named in texts of errors"
    document = {"code": code, "message": message, "more_info": "", "status": status}
    return says(status, document, **headers)


def fault_of(fields: dict[str, str]) -> int | None:
    """Return the code of the error that Twilio answers by its documentation."""
    if not fields.get("To", "").startswith("whatsapp:+"):
        return 21211
    if fields.get("From") != f"whatsapp:{SENDER}":
        return 63007
    has_text = bool(fields.get("Body"))
    if has_text == bool(fields.get("ContentSid")):
        return 21619
    if len(fields.get("Body", "")) > 1600:
        return 21617
    if not has_text:
        variables = orjson.loads(fields["ContentVariables"])
        is_fit = all(
            text.strip() and "\n" not in text and "    " not in text for text in variables.values()
        )
        if set(variables) != {"1", "2", "3"} or not is_fit or not all(variables.values()):
            return 63028
    return None


@asynccontextmanager
async def fake_twilio() -> AsyncIterator[FakeTwilio]:
    """Run a server during the block."""
    state = FakeTwilio()
    async with fake([state.answer]) as server:
        state.server = server
        yield state

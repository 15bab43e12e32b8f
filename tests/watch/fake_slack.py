"""Slack's chat.postMessage and oauth.v2.access on loopback, which check requests as documented."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from tests.adapters.sending.fake import Fake, FakeReply, Request, fake, says
from tests.watch.watching import TOKEN

CLIENT_ID = "100000000001.100000000002"
CLIENT_SECRET = "0123456789abcdef0123456789abcdef"


@dataclass
class FakeSlack:
    """Messages that were posted. `script` has answers that come before the usual one."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    script: list[FakeReply | Callable[[Request], FakeReply]] = field(default_factory=list)
    codes: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Codes of installations, each with its workspace and person."""
    server: Fake | None = None

    @property
    def port(self) -> int:
        assert self.server is not None
        return self.server.port

    @property
    def texts(self) -> list[str]:
        return [one["text"] for one in self.messages]

    def answer(self, request: Request) -> FakeReply:
        if self.script:
            scripted = self.script.pop(0)
            return scripted if isinstance(scripted, FakeReply) else scripted(request)
        if request.path == "/api/oauth.v2.access":
            return self._exchanged(request)
        if request.path != "/api/chat.postMessage":
            return says(200, {"ok": False, "error": "unknown_method"})
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return says(200, {"ok": False, "error": "invalid_auth"})
        if not request.headers["content-type"].startswith("application/json"):
            return says(200, {"ok": False, "error": "invalid_post_type"})
        message = request.json
        error = fault_of(message)
        if error is not None:
            return says(200, {"ok": False, "error": error})
        self.messages.append(message)
        stamp = f"1767323045.{len(self.messages):06}"
        return says(200, {"ok": True, "channel": message["channel"], "ts": stamp})

    def _exchanged(self, request: Request) -> FakeReply:
        """Return the token of an installation whose code has not been used."""
        fields = dict(parse_qsl(request.body.decode("ascii"), strict_parsing=True))
        client = (fields.get("client_id"), fields.get("client_secret"))
        authorization = request.headers.get("authorization", "")
        if authorization.startswith("Basic "):  # as the official client sends them
            name, _, secret = base64.b64decode(authorization[6:]).decode().partition(":")
            client = (name, secret)
        if client != (CLIENT_ID, CLIENT_SECRET):
            return says(200, {"ok": False, "error": "bad_client_secret"})
        if fields.get("code") not in self.codes:
            return says(200, {"ok": False, "error": "invalid_code"})
        team, person = self.codes.pop(fields["code"])
        answer = {
            "ok": True,
            "access_token": TOKEN,
            "token_type": "bot",
            "scope": "chat:write",
            "bot_user_id": "U0BOT",
            "app_id": "A01",
            "team": {"name": "Example", "id": team},
            "enterprise": None,
            "authed_user": {"id": person},
        }
        return says(200, answer)


def fault_of(message: dict[str, Any]) -> str | None:
    """Return the error word of a message that Slack refuses by its documented limits."""
    blocks = message.get("blocks", [])
    if not message.get("channel", "").startswith(("C", "D", "G", "U")):
        return "channel_not_found"
    if not message.get("text") and not blocks:
        return "no_text"
    sections = [one["text"]["text"] for one in blocks if one["type"] == "section"]
    buttons = [each for one in blocks if one["type"] == "actions" for each in one["elements"]]
    kinds = {one["type"] for one in blocks}
    if len(blocks) > 50 or any(not 1 <= len(text) <= 3000 for text in sections):
        return "invalid_blocks"
    if kinds - {"section", "context", "actions"} or any(
        len(one.get("url", "")) > 3000 or len(one.get("value", "")) > 2000 for one in buttons
    ):
        return "invalid_blocks"
    return None


@asynccontextmanager
async def fake_slack() -> AsyncIterator[FakeSlack]:
    """Run a server during the block."""
    state = FakeSlack()
    async with fake([state.answer]) as server:
        state.server = server
        yield state

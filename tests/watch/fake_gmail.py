"""Google's consent, tokens and Gmail on loopback: checks requests as documented, keeps messages."""

import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from mailqueue.adapters.mailboxes.gmail.consents import READ_MAIL, GoogleClient, google_at
from mailqueue.core.secret import Secret
from tests.adapters.sending.fake import Fake, FakeReply, Request, fake, says

CLIENT_ID, CLIENT_SECRET = "client-1.apps.example.com", "client-secret-word"
ADDRESS = "ann@example.com"
Scripted = FakeReply | Callable[[Request], FakeReply]


@dataclass
class FakeMessage:
    """A message at Gmail; its history is the number of its arrival."""

    id: str
    history: int
    labels: list[str]
    headers: Mapping[str, str]
    snippet: str
    at: datetime
    size: int = 1000


@dataclass
class FakeGmail:
    """One mailbox, the grants to it, and answers that come before the usual ones by path."""

    address: str = ADDRESS
    messages: list[FakeMessage] = field(default_factory=list)
    history: int = 1000
    oldest: int = 0
    """A startHistoryId below it is too old."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was asked for, by codes that were not used yet."""
    refresh_tokens: set[str] = field(default_factory=lambda: {"refresh-0"})
    access_tokens: set[str] = field(default_factory=set)
    scope: str = READ_MAIL
    lifetime: int = 3600
    page: int = 100
    issued: int = 0
    revoked: list[str] = field(default_factory=list)
    watches: list[dict[str, Any]] = field(default_factory=list)
    """What Gmail was asked to push."""
    keys: list[dict[str, Any]] = field(default_factory=list)
    """Keys that Google signs the tokens of pushes with."""
    script: dict[str, list[Scripted]] = field(default_factory=dict)
    server: Fake | None = None

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"http://127.0.0.1:{self.server.port}"

    @property
    def client(self) -> GoogleClient:
        return GoogleClient(CLIENT_ID, Secret(CLIENT_SECRET), google_at(self.url))

    def asked(self, path: str) -> int:
        """Return how many requests began with a path below the API."""
        assert self.server is not None
        start = f"/gmail/v1/users/me{path}"
        return sum(one.path.startswith(start) for one in self.server.requests)

    def add(
        self,
        subject: str,
        *,
        labels: Sequence[str] = ("INBOX", "UNREAD"),
        sender: str = "Bob <bob@example.com>",
        snippet: str = "How are you?",
        message_id: str | None = None,
        at: datetime | None = None,
        size: int = 1000,
    ) -> FakeMessage:
        """Let a message arrive."""
        self.history += 7  # numbers rise with gaps
        headers = {"From": sender, "Subject": subject}
        if message_id != "":
            headers["Message-ID"] = message_id or f"<{self.history}@example.com>"
        moment = at or datetime.now(UTC)
        message_key = f"18c{self.history:013x}"
        made = FakeMessage(message_key, self.history, list(labels), headers, snippet, moment, size)
        self.messages.append(made)
        return made

    def consent(self, url: str) -> dict[str, str]:
        """Consent as the owner; return the parameters that Google adds to the redirect."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert urlsplit(url).path == "/o/oauth2/v2/auth"
        assert asked["client_id"] == CLIENT_ID
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert len(asked["code_challenge"]) == 43
        assert asked["access_type"] == "offline"
        code = f"4/code-{len(self.codes)}-{self.issued}"
        self.codes[code] = asked
        return {"state": asked["state"], "code": code, "scope": self.scope}

    def answer(self, request: Request) -> FakeReply:
        path = urlsplit(request.path).path
        waiting = self.script.get(path.removeprefix("/gmail/v1/users/me"), [])
        if waiting:
            scripted = waiting.pop(0)
            return scripted if isinstance(scripted, FakeReply) else scripted(request)
        if path == "/token":
            return self._token(dict(parse_qsl(request.body.decode())))
        if path == "/revoke":
            token = dict(parse_qsl(request.body.decode()))["token"]
            self.revoked.append(token)
            if token not in self.refresh_tokens:
                return says(400, {"error": "invalid_token"})
            self.refresh_tokens.discard(token)
            return says(200, {})
        if path == "/.well-known/openid-configuration":
            return says(200, {"issuer": self.url, "jwks_uri": f"{self.url}/certs"})
        if path == "/certs":
            return says(200, {"keys": self.keys})
        if not path.startswith("/gmail/v1/users/me/"):
            return says(404, {"error": {"code": 404, "message": "Not Found"}})
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.access_tokens:
            return fault(401, "authError", "Invalid Credentials")
        if (request.method, path) == ("POST", "/gmail/v1/users/me/watch"):
            self.watches.append(request.json)
            ends = int(datetime.now(UTC).timestamp() + 7 * 86400) * 1000
            return says(200, {"historyId": str(self.history), "expiration": str(ends)})
        query = parse_qs(urlsplit(request.path).query)
        return self._api(path.removeprefix("/gmail/v1/users/me"), query)

    def _token(self, form: Mapping[str, str]) -> FakeReply:
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return says(401, {"error": "invalid_client"})
        self.issued += 1
        access = f"access-{self.issued}"
        given: dict[str, Any] = {
            "access_token": access,
            "expires_in": self.lifetime,
            "token_type": "Bearer",
            "scope": self.scope,
        }
        if form.get("grant_type") == "refresh_token":
            if form.get("refresh_token") not in self.refresh_tokens:
                words = "Token has been expired or revoked."
                return says(400, {"error": "invalid_grant", "error_description": words})
        else:
            asked = self.codes.pop(form.get("code", ""), None)
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if (
                asked is None
                or asked["code_challenge"] != challenge
                or asked["redirect_uri"] != form.get("redirect_uri")
            ):
                return says(400, {"error": "invalid_grant", "error_description": "Bad Request"})
            given["refresh_token"] = f"refresh-{self.issued}"
            self.refresh_tokens.add(given["refresh_token"])
        self.access_tokens.add(access)
        return says(200, given)

    def _api(self, path: str, query: Mapping[str, list[str]]) -> FakeReply:
        if path == "/profile":
            return says(200, {"emailAddress": self.address, "historyId": str(self.history)})
        if path == "/history":
            return self._history(query)
        known = path.removeprefix("/messages/")
        for message in self.messages:
            if message.id == known:
                return says(200, _metadata(message, query.get("metadataHeaders", [])))
        return fault(404, "notFound", "Requested entity was not found.")

    def _history(self, query: Mapping[str, list[str]]) -> FakeReply:
        start = int(query["startHistoryId"][0])
        assert query["historyTypes"] == ["messageAdded"]
        if start < self.oldest:
            return fault(404, "notFound", "Requested entity was not found.")
        label = query["labelId"][0]
        if label == "Label_9":
            return fault(400, "invalidArgument", "Invalid label: Label_9")
        added = [one for one in self.messages if one.history > start and label in one.labels]
        first = int(query.get("pageToken", ["0"])[0])
        shown, behind = added[first : first + self.page], added[first + self.page :]
        document: dict[str, Any] = {"historyId": str(self.history)}
        if shown:
            document["history"] = [_record(one) for one in shown]
        if behind:
            document["nextPageToken"] = str(first + self.page)
        return says(200, document)


def _record(message: FakeMessage) -> dict[str, Any]:
    known = {"id": message.id, "threadId": message.id}
    added = {"message": {**known, "labelIds": message.labels}}
    return {"id": str(message.history), "messages": [known], "messagesAdded": [added]}


def _metadata(message: FakeMessage, wanted: Sequence[str]) -> dict[str, Any]:
    names = {name.lower() for name in wanted}
    return {
        "id": message.id,
        "threadId": message.id,
        "labelIds": message.labels,
        "snippet": message.snippet,
        "historyId": str(message.history),
        "internalDate": str(int(message.at.timestamp() * 1000)),
        "sizeEstimate": message.size,
        "payload": {
            "mimeType": "text/plain",
            "headers": [
                {"name": name, "value": value}
                for name, value in message.headers.items()
                if name.lower() in names
            ],
        },
    }


def fault(status: int, reason: str, message: str, **headers: str) -> FakeReply:
    """Return an error as the APIs of Google have it."""
    listed = [{"domain": "global", "reason": reason, "message": message}]
    document = {"error": {"code": status, "message": message, "errors": listed}}
    return says(status, document, **headers)


@asynccontextmanager
async def fake_gmail() -> AsyncIterator[FakeGmail]:
    """Run a server during the block."""
    state = FakeGmail()
    async with fake([state.answer]) as server:
        state.server = server
        yield state

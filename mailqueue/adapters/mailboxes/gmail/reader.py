"""New mail of an inbox at Gmail: what users.history.list added to labels since a historyId.

Follows developers.google.com/gmail/api/guides/sync and /handle-errors, read in November 2026. Of a
message its headers and snippet are read, never its body: messages of any size cost the same.
"""

import asyncio
import hashlib
import html
import ssl
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from mailqueue.adapters.http.model import HttpResponse, NetworkPolicy
from mailqueue.adapters.mailboxes.gmail.consents import TIMEOUTS, GoogleClient
from mailqueue.adapters.mailboxes.gmail.session import (
    MAX_BYTES,
    GmailSession,
    GmailStopped,
    odd,
)
from mailqueue.adapters.sending.oauth import RefreshToken, Tokens
from mailqueue.core.secret import Secret
from mailqueue.ports.mailbox import (
    Cursors,
    FolderCursor,
    MailboxAccess,
    MailboxScan,
    NewMail,
    ScanFault,
)
from mailqueue.telemetry.log import get_logger

_log = get_logger(__name__)
SCAN_SECONDS = 60.0
"""Limit of a whole scan."""
MAX_MAILS = 100
"""Messages of one scan; the next one goes on at once."""
MAX_PAGES = 20
"""Pages of history that are read for one label in one scan."""
PUSH_RENEWAL = timedelta(days=1)
"""Time after which Gmail is asked to push again; it pushes for seven days."""
PUSH_RETRY = timedelta(hours=1)
"""Time after which it is asked again where it refused."""
MARGIN_SECONDS = 300.0
"""Seconds before its end from which an access token is renewed."""
MAX_TOKENS = 10_000
"""Inboxes whose access tokens a process keeps, the ones used last."""
NUMBERING = 1
"""Validity of all cursors: Gmail never numbers anew."""
ANY_LABEL = ""
"""Folder of all messages: one is the same under each of its labels."""
REFUSED_LABELS = frozenset({"SENT", "DRAFT", "SPAM", "TRASH"})
MAX_HEADER_CHARACTERS = 8000
MAX_SNIPPET_CHARACTERS = 1000
MAX_ID_CHARACTERS = 200
_HEADERS = ("From", "Sender", "Subject", "Message-ID")


class GmailReader:
    """See `ports.mailbox.MailboxReader`; folders are ids of labels, next UIDs are historyIds."""

    def __init__(
        self,
        client: GoogleClient,
        policy: NetworkPolicy,
        *,
        topic: str | None = None,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        """Prepare; `topic` of Pub/Sub is what Gmail is asked to push to, None: to none.

        `tls_context` None trusts what the system trusts, TLS 1.2 and later.
        """
        self._topic = topic
        self._client = client
        self._policy = policy
        self._tls_context = tls_context
        self._tokens: OrderedDict[bytes, Tokens] = OrderedDict()

    async def scan(
        self, access: MailboxAccess, cursors: Cursors, *, since: datetime | None
    ) -> MailboxScan | ScanFault:
        """Return what arrived after the cursors."""
        session = GmailSession(
            self._client.urls.api,
            self._tokens_of(access.password),
            self._policy,
            tls_context=self._tls_context,
        )
        try:
            async with asyncio.timeout(SCAN_SECONDS):
                found = await _Scan(session, since).read(access.folders, cursors)
                return replace(found, push_asked_at=await self._ask_to_push(session, access))
        except GmailStopped as stopped:
            return stopped.fault
        except TimeoutError:
            return ScanFault("Gmail was too slow", is_refusal=False)
        finally:
            session.close()

    def close(self) -> None:
        """Forget the access tokens."""
        self._tokens.clear()

    async def _ask_to_push(self, session: GmailSession, access: MailboxAccess) -> datetime | None:
        """Ask for pushes once a day; where that fails, once an hour, as polling goes on."""
        now, last = datetime.now(UTC), access.push_asked_at
        if self._topic is None or (last is not None and now - last < PUSH_RENEWAL):
            return None
        wanted = {
            "topicName": self._topic,
            "labelIds": list(access.folders),
            "labelFilterBehavior": "INCLUDE",
        }
        try:
            answer = await session.post("/watch", wanted)
        except GmailStopped as stopped:
            _log.warning("inbox.not_pushed", reason=stopped.fault.reason)
        else:
            if answer.status == 200:
                return now
        return now - PUSH_RENEWAL + PUSH_RETRY

    def _tokens_of(self, refresh_token: Secret) -> Tokens:
        key = hashlib.sha256(refresh_token.reveal().encode()).digest()
        found = self._tokens.pop(key, None)
        if found is None:
            grant = RefreshToken(
                self._client.client_id,
                self._client.client_secret,
                refresh_token,
                self._client.urls.token,
            )
            found = Tokens(
                grant,
                self._policy,
                timeouts=TIMEOUTS,
                tls_context=self._tls_context,
                margin_s=MARGIN_SECONDS,
            )
        self._tokens[key] = found
        if len(self._tokens) > MAX_TOKENS:
            self._tokens.popitem(last=False)
        return found


class _Scan:
    """One scan of one inbox."""

    def __init__(self, session: GmailSession, since: datetime | None) -> None:
        self._session = session
        self._since = since
        self._end: int | None = None  # historyId of the profile, asked for once
        self._known: set[str] = set()  # messages of this scan
        self._room = MAX_MAILS

    async def read(self, labels: Sequence[str], cursors: Cursors) -> MailboxScan:
        found: dict[str, FolderCursor] = {}
        mails: list[NewMail] = []
        has_more = False
        for label in labels:
            known = cursors.get(label)
            if known is None:
                found[label] = FolderCursor(NUMBERING, await self._present())
                continue
            ids, end, is_cut = await self._added(label, known.next_uid)
            found[label] = FolderCursor(NUMBERING, end)
            has_more = has_more or is_cut
            for message_id in ids:
                mail = await self._message(labels, message_id)
                if mail is not None:
                    mails.append(mail)
        return MailboxScan(found, tuple(mails), has_more)

    async def _present(self) -> int:
        """Return the historyId of now, before anything else of this scan is asked."""
        if self._end is None:
            answer = await self._session.get("/profile")
            self._end = _number(_object_of(answer).get("historyId"))
        return self._end

    async def _added(self, label: str, start: int) -> tuple[Sequence[str], int, bool]:
        """Return ids of messages, the historyId they lead to, and whether there are more."""
        ids: list[str] = []
        reached, page = start, ""
        for _ in range(MAX_PAGES):
            answer = await self._session.get("/history?" + _history_query(label, start, page))
            if answer.status == 404:  # the historyId is too old: go on from now
                return (), await self._present(), False
            document = _object_of(answer)
            for record in _objects(document.get("history")):
                added = [one for one in _added_ids(record) if one not in self._known]
                if added and ids and len(added) > self._room:
                    return ids, reached, True
                if added and self._room <= 0:
                    return ids, reached, True
                ids += added
                self._known.update(added)
                self._room -= len(added)
                reached = max(reached, _number(record.get("id")))
            next_page = document.get("nextPageToken")
            if not isinstance(next_page, str) or not next_page:
                return ids, max(reached, _number(document.get("historyId"))), False
            page = next_page
        if reached == start:
            raise odd("pages of history without an end")
        return ids, reached, True

    async def _message(self, wanted: Sequence[str], message_id: str) -> NewMail | None:
        """Return a message that has a wanted label; None if it is deleted, elsewhere or older."""
        query = urlencode({"format": "metadata", "metadataHeaders": _HEADERS}, doseq=True)
        answer = await self._session.get(f"/messages/{quote(message_id, safe='')}?{query}")
        if answer.status == 404:
            return None
        uid = int.from_bytes(hashlib.sha256(message_id.encode()).digest()[:8], "big")
        if len(answer.body) >= MAX_BYTES:  # headers without an end: it is reported without them
            return NewMail(ANY_LABEL, NUMBERING, uid, datetime.now(UTC), b"")
        document = _object_of(answer)
        labels = _texts(document.get("labelIds"))
        received_at = _instant(document.get("internalDate"))
        if labels.isdisjoint(wanted) or labels & REFUSED_LABELS:
            return None
        if self._since is not None and received_at < self._since:
            return None
        return NewMail(ANY_LABEL, NUMBERING, uid, received_at, _written(document))


def _history_query(label: str, start: int, page: str) -> str:
    asked = {"startHistoryId": str(start), "historyTypes": "messageAdded", "labelId": label}
    fields = "history(id,messagesAdded(message(id,labelIds))),nextPageToken,historyId"
    return urlencode(asked | ({"pageToken": page} if page else {}) | {"fields": fields})


def _added_ids(record: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for one in _objects(record.get("messagesAdded")):
        message = one.get("message")
        if not isinstance(message, dict) or _texts(message.get("labelIds")) & REFUSED_LABELS:
            continue
        known = message.get("id")
        if isinstance(known, str) and 0 < len(known) <= MAX_ID_CHARACTERS and known not in found:
            found.append(known)
    return found


def _written(document: dict[str, Any]) -> bytes:
    """Return a message with the headers and the snippet as its text, for a reader of mail."""
    payload = document.get("payload")
    headers = _objects(payload.get("headers")) if isinstance(payload, dict) else ()
    values: dict[str, str] = {}
    for one in headers:
        name, value = one.get("name"), one.get("value")
        if isinstance(name, str) and isinstance(value, str):
            values.setdefault(name.lower(), " ".join(value[:MAX_HEADER_CHARACTERS].split()))
    snippet = document.get("snippet")
    text = html.unescape(snippet[:MAX_SNIPPET_CHARACTERS]) if isinstance(snippet, str) else ""
    lines = [f"{name}: {values[name.lower()]}" for name in _HEADERS if name.lower() in values]
    lines += ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"]
    return "\r\n".join([*lines, "", text]).encode("utf-8", "replace")


def _object_of(answer: HttpResponse) -> dict[str, Any]:
    found = answer.document()
    if not isinstance(found, dict):
        raise odd("no JSON object")
    return found


def _objects(value: object) -> Iterable[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else ()


def _texts(value: object) -> set[str]:
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()


def _number(value: object) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or len(text) > 20:
        raise odd("a number of history that is none")
    return int(text)


def _instant(value: object) -> datetime:
    try:
        return datetime.fromtimestamp(int(str(value)) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.now(UTC)

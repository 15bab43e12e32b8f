"""New mail of an inbox at Gmail: what users.history.list added to labels since a historyId.

Follows developers.google.com/gmail/api/guides/sync and /handle-errors, read in November 2026. Of a
message its headers and snippet are read, never its body: messages of any size cost the same.
"""

import asyncio
import hashlib
import ssl
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote, urlencode

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.mailboxes.gmail.consents import TIMEOUTS, GoogleClient
from mailqueue.adapters.mailboxes.gmail.documents import (
    HEADERS,
    REFUSED_LABELS,
    added_ids,
    history_query,
    instant,
    number,
    object_of,
    objects,
    texts,
    written,
)
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
READING_SECONDS = 30.0
"""Time after which no further message is read: the next scan goes on."""
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


class GmailReader:
    """See `ports.mailbox.MailboxReader`; folders are ids of labels, next UIDs are historyIds."""

    def __init__(
        self,
        client: GoogleClient,
        policy: NetworkPolicy,
        *,
        topic: str | None = None,
        tls_context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; `topic` of Pub/Sub is what Gmail is asked to push to, None: to none.

        `tls_context` None trusts what the system trusts, TLS 1.2 and later.
        """
        self._topic = topic
        self._clock = clock
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
                found = await _Scan(session, since, self._clock).read(access.folders, cursors)
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


class _Record(NamedTuple):
    """A record of history: messages that were added, and its id."""

    id: int
    messages: Sequence[str]


class _Scan:
    """One scan of one inbox."""

    def __init__(
        self, session: GmailSession, since: datetime | None, clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._clock = clock
        self._ends = clock() + READING_SECONDS
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
            if mails and self._is_over():
                found[label], has_more = known, True
                continue
            records, end, is_cut = await self._added(label, known.next_uid)
            reached = known.next_uid
            for place, record in enumerate(records):
                if place > 0 and self._is_over():
                    end, is_cut = reached, True
                    break
                read = [await self._message(labels, one) for one in record.messages]
                mails += [mail for mail in read if mail is not None]
                reached = max(reached, record.id)
            found[label] = FolderCursor(NUMBERING, end)
            has_more = has_more or is_cut
        return MailboxScan(found, tuple(mails), has_more)

    def _is_over(self) -> bool:
        return self._clock() >= self._ends

    async def _present(self) -> int:
        """Return the historyId of now, before anything else of this scan is asked."""
        if self._end is None:
            answer = await self._session.get("/profile")
            self._end = number(object_of(answer).get("historyId"))
        return self._end

    async def _added(self, label: str, start: int) -> tuple[Sequence["_Record"], int, bool]:
        """Return records with messages, the historyId they lead to, and whether there are more."""
        found: list[_Record] = []
        reached, page = start, ""
        for _ in range(MAX_PAGES):
            answer = await self._session.get("/history?" + history_query(label, start, page))
            if answer.status == 404:  # the historyId is too old: go on from now
                return (), await self._present(), False
            document = object_of(answer)
            for record in objects(document.get("history")):
                added = [one for one in added_ids(record) if one not in self._known]
                if added and found and len(added) > self._room:
                    return found, reached, True
                if added and self._room <= 0:
                    return found, reached, True
                self._known.update(added)
                self._room -= len(added)
                reached = max(reached, number(record.get("id")))
                if added:
                    found.append(_Record(reached, added))
            next_page = document.get("nextPageToken")
            if not isinstance(next_page, str) or not next_page:
                return found, max(reached, number(document.get("historyId"))), False
            page = next_page
        if reached == start:
            raise odd("pages of history without an end")
        return found, reached, True

    async def _message(self, wanted: Sequence[str], message_id: str) -> NewMail | None:
        """Return a message that has a wanted label; None if it is deleted, elsewhere or older."""
        query = urlencode({"format": "metadata", "metadataHeaders": HEADERS}, doseq=True)
        answer = await self._session.get(f"/messages/{quote(message_id, safe='')}?{query}")
        if answer.status == 404:
            return None
        uid = int.from_bytes(hashlib.sha256(message_id.encode()).digest()[:8], "big")
        if len(answer.body) >= MAX_BYTES:  # headers without an end: it is reported without them
            return NewMail(ANY_LABEL, NUMBERING, uid, datetime.now(UTC), b"")
        document = object_of(answer)
        labels = texts(document.get("labelIds"))
        received_at = instant(document.get("internalDate"))
        if labels.isdisjoint(wanted) or labels & REFUSED_LABELS:
            return None
        if self._since is not None and received_at < self._since:
            return None
        return NewMail(ANY_LABEL, NUMBERING, uid, received_at, written(document))

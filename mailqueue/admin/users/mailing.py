"""Mail links that set passwords to users whose name is their address, past all queues and tables.

A link in a stored email could be used by everyone who may read the emails of a project, and by
their API keys. So it is handed to a server of the operator at once, and stored nowhere.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from mailqueue.admin.users import manage, store
from mailqueue.admin.users.attempts import AttemptRate, Attempts
from mailqueue.admin.users.beginning import network_hash
from mailqueue.admin.users.model import LoginSource, PasswordLink
from mailqueue.core.address import Address, InvalidAddress, Mailbox, parse_address
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.verdict import Fault, Rejected, Stage, Verdict
from mailqueue.db.fetch import Conn, Lend
from mailqueue.mime.compose import PerMail, compose, message_id
from mailqueue.mime.skeleton import MessageContent, compile_skeleton
from mailqueue.ports.transport import Envelope, SendAttempt, Transport
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)

RESET_LASTS = timedelta(hours=1)
"""How long a link that a person asked for can set a password."""
RESETS = AttemptRate(60.0, 5)
"""Requests for such a link from one network."""
RESETS_OF_NAME = AttemptRate(1200.0, 3)
"""Requests for such a link for one name, whether there is such a user or not."""
INVITED = AttemptRate(86.4, 1000)
"""Links that the admins of one project have mailed; further ones are shown only."""
SEND_SECONDS = 20.0
"""Seconds that the server has to take a mail: the person who invites waits for it."""
MAX_RESETTING = 20
"""Requests that are worked on at a time in this process; further ones are left out."""
_SUBJECT = "Your password for the mailqueue console"
_INVITED = "Set your password for the mailqueue console here:"
_ASKED = (
    "A new password for the mailqueue console was asked for, probably by you. Choose it here.\n"
    "If it was not you, do nothing: your password stays as it is."
)


@dataclass(slots=True)
class LinkMailer:
    """Hands mail with links to the server of the operator.

    `url` is that of the console; `resetting` are the requests that are worked on.
    """

    open_transport: Callable[[], Transport]
    sender: Address
    url: str
    resetting: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    async def send(self, link: PasswordLink, *, is_reset: bool = False) -> Verdict | None:
        """Mail a link to its user; return the verdict, None where the name is no address."""
        address = address_of(link.name)
        if address is None:
            return None
        try:
            async with asyncio.timeout(SEND_SECONDS):
                return await self._hand_over(self._attempt(link, address, is_reset=is_reset))
        except TimeoutError:
            why = f"the server did not confirm it within {SEND_SECONDS:.0f} seconds"
            return Rejected(Fault.AMBIGUOUS, "", why, Stage.DOT)

    async def _hand_over(self, attempt: SendAttempt) -> Verdict:
        channel = await self.open_transport().open()
        if isinstance(channel, Rejected):
            return channel
        verdicts: list[Verdict] = []
        try:
            await channel.send(
                [attempt],
                lambda _mail, verdict, _took_ms: verdicts.append(verdict),
                may_finish=lambda: True,
            )
        finally:
            await channel.close()
        return verdicts[0]

    def reset(self, lend: Lend, name: str) -> None:
        """Begin to mail a link to a user who forgot the password, if there is such a user.

        The caller's answer comes before, and tells nothing of it.
        """
        if len(self.resetting) < MAX_RESETTING:
            task = asyncio.create_task(self._reset(lend, name))
            self.resetting.add(task)
            task.add_done_callback(self.resetting.discard)

    async def _reset(self, lend: Lend, name: str) -> None:
        try:
            async with lend() as conn:
                # To the stored name: one that is merely equal without case may be another mailbox.
                user = await manage.find(conn, name)
                if user.removed_at is not None or address_of(user.name) is None:
                    return
                by = f"{user.name} (forgotten password)"
                link = await manage.reset_link(conn, user.name, by=by, lasts=RESET_LASTS)
            verdict = await self.send(link, is_reset=True)
        except (NotFound, InvalidField):
            return
        except Exception:
            log.exception("console.reset_failed")
            return
        if isinstance(verdict, Rejected):  # without its words, in which servers repeat the address
            log.warning(
                "console.reset_refused", kind=verdict.kind, code=verdict.code, stage=verdict.stage
            )

    def _attempt(self, link: PasswordLink, to: Address, *, is_reset: bool) -> SendAttempt:
        email_id, now = uuid4(), datetime.now(UTC)
        until = link.until.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
        begin = _ASKED if is_reset else _INVITED
        text = (
            f"{begin}\n\n{manage.link_url(self.url, link)}\n\nThe link works once, until {until}.\n"
        )
        headers = (("Auto-Submitted", "auto-generated"),)
        content = MessageContent(subject=_SUBJECT, html=None, text=text, headers=headers)
        mail = PerMail(
            sender=Mailbox("", self.sender),
            to=(Mailbox("", to),),
            written_at=now,
            message_id=message_id(email_id, self.sender.domain),
        )
        needs = self.sender.needs_smtputf8 or to.needs_smtputf8
        envelope = Envelope(self.sender.sent, (to.sent,), needs)
        return SendAttempt(email_id, envelope, compose(compile_skeleton(content), mail))


def address_of(name: str) -> Address | None:
    """Return the address that the name of a user is; None if it is none. Pure."""
    try:
        return parse_address(name.strip())
    except InvalidAddress:
        return None


async def wait_for_turn(attempts: Attempts, client: LoginSource, name: str) -> None:
    """Wait until a person may ask for a link.

    Raises:
        TooManyRequests: too many were asked for from this network, or for this name.
    """
    network = hashlib.sha256(b"reset " + network_hash(client.address)).digest()
    of_name = hashlib.sha256(b"reset of " + name.strip().lower().encode()).digest()
    await attempts.wait_for_turn(network, RESETS)
    await attempts.wait_for_turn(of_name, RESETS_OF_NAME)


async def may_mail(conn: Conn, project: UUID) -> bool:
    """Count a link that an admin of a project has mailed; return whether it may be."""
    of_project = hashlib.sha256(b"links of " + project.bytes).digest()
    taken = await store.take_attempt(
        conn, of_project, seconds=INVITED.seconds, burst=INVITED.burst, wait=0.0
    )
    return taken is not None

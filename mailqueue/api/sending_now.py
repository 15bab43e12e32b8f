"""Mail that is sent while its caller waits, by a server the caller names."""

from functools import partial
from types import MappingProxyType

from pydantic import SecretStr

from mailqueue.api import mail, store
from mailqueue.api.call import Call
from mailqueue.api.model import Sent
from mailqueue.api.sending_model import SendRequest, SmtpOverride
from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.mail.sendnow import send_now
from mailqueue.mail.shown import fetched
from mailqueue.senders.inline import FIELD, InlineServer, inline_server
from mailqueue.senders.model import Tls

_TLS_BY_MODE = MappingProxyType(
    {
        "starttls": Tls.STARTTLS,
        "implicit": Tls.IMPLICIT,
        "tls": Tls.IMPLICIT,
        "ssl": Tls.IMPLICIT,
        "none": Tls.NONE,
        "plain": Tls.NONE,
    }
)
_FIELD_BY_NAME = MappingProxyType(
    {f"{FIELD}.tls": f"{FIELD}.tls_mode", f"{FIELD}.smtp_tls": f"{FIELD}.tls_mode"}
)


async def sent_now(call: Call, wanted: SendRequest, override: SmtpOverride) -> Sent:
    """Send a mail and say what became of it: sent, failed, suppressed, or held as unknown.

    Raises:
        InvalidField: nothing is sent.
        Conflict: the project sends nothing this way.
        LimitReached: it has no headroom.
    """
    if call.caller.is_test:
        raise InvalidField(FIELD, "a test key sends to the trap only")
    server = server_of(override)
    email = mail.new_email(call.caller, wanted)
    lend = call.runtime.borrow
    try:
        done = await send_now(
            lend,
            email,
            project=call.caller.project,
            transport=call.services.transport_of(server),
            hidden=server.hidden,
            fetch=partial(fetched, lend, call.services.shelf, project_id=call.caller.project_id),
        )
    except InvalidField as exc:
        raise mail.renamed(exc) from None
    if done.status != "duplicate":
        return Sent(done.id, done.status, done.reason)
    async with call.connection() as conn:
        before = await store.find_email(conn, done.id, project_id=call.caller.project_id)
    status = "duplicate" if before is None else before.status
    return Sent(done.id, status, None if before is None else before.reason)


def server_of(override: SmtpOverride) -> InlineServer:
    """Give the server, after the rules of saved accounts.

    Raises:
        InvalidField: named smtp_override.host and so on; nothing secret is repeated.
    """
    try:
        return inline_server(
            host=override.host,
            port=override.port,
            tls=_TLS_BY_MODE[override.tls_mode],
            username=_secret(override.username),
            password=_secret(override.password),
        )
    except InvalidField as exc:
        raise InvalidField(_FIELD_BY_NAME.get(exc.field, exc.field), exc.why) from None


def _secret(given: SecretStr | None) -> Secret | None:
    return None if given is None else Secret(given.get_secret_value())

"""Routes of the pages that links in mail lead to."""

from starlette.routing import BaseRoute, Route

from mailqueue.analytics.exports.links import PATH as EXPORTS_PATH
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.confirm import confirm
from mailqueue.api.public.data import data
from mailqueue.api.public.exports import ExportFiles
from mailqueue.api.public.inbox_consent import RESULT_PATH, ConsentPages
from mailqueue.api.public.inbox_push import InboxPush
from mailqueue.api.public.pictures import Pictures
from mailqueue.api.public.preferences import preferences
from mailqueue.api.public.recipient_page import RecipientPage
from mailqueue.api.public.unsubscribe import unsubscribe
from mailqueue.templates.pictures.model import PATH as PICTURES_PATH
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import TokenKind
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch.gmail import CALLBACK_PATH, PUSH_PATH


def people_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the routes of the pages of recipients: unsubscribe, preferences, confirm, their data;
    of files of exports, which have signed links too; of pictures of templates; of consents of
    owners of inboxes, and of pushes that they have changed.
    """
    keyring = Keyring(lambda: master_key_of(runtime.settings))
    unsubscribing = RecipientPage(runtime, keyring, TokenKind.UNSUBSCRIBE, unsubscribe)
    choosing = RecipientPage(runtime, keyring, TokenKind.PREFERENCES, preferences)
    confirming = RecipientPage(runtime, keyring, TokenKind.CONFIRM, confirm)
    own_data = RecipientPage(runtime, keyring, TokenKind.DATA, data)
    consents = ConsentPages(runtime)
    files = ExportFiles(runtime, keyring)
    return [
        Route(f"{EXPORTS_PATH}{{token}}", files.respond, methods=["GET"]),
        Route(CALLBACK_PATH, consents.respond, methods=["GET"]),
        Route(RESULT_PATH, consents.show, methods=["GET"]),
        Route(PUSH_PATH, InboxPush(runtime).respond, methods=["POST"]),
        Route(f"{PICTURES_PATH}{{token}}", Pictures(runtime).respond, methods=["GET"]),
        Route("/confirm/{token}", confirming.respond, methods=["GET", "POST"]),
        Route("/data/{token}", own_data.respond, methods=["GET", "POST"]),
        Route("/t/u/{token}", unsubscribing.respond, methods=["GET", "POST"]),
        Route("/pref/{token}", choosing.respond, methods=["GET", "POST"]),
    ]

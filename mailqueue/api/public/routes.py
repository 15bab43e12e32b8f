"""The pages for people, and where they are."""

from starlette.routing import BaseRoute, Route

from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.preferences import preferences
from mailqueue.api.public.unsubscribe import unsubscribe
from mailqueue.api.public.visiting import Visiting
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import Kind
from mailqueue.vault.masterkey import master_key_of


def people_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the pages that links in mail lead to, where people choose what they get."""
    keyring = Keyring(lambda: master_key_of(runtime.settings))
    leaving = Visiting(runtime, keyring, Kind.UNSUBSCRIBE, unsubscribe)
    choosing = Visiting(runtime, keyring, Kind.PREFERENCES, preferences)
    return [
        Route("/t/u/{token}", leaving.answer, methods=["GET", "POST"]),
        Route("/pref/{token}", choosing.answer, methods=["GET", "POST"]),
    ]

"""The keyring of tokens in links."""

from functools import partial

from mailqueue.settings.environment import Settings
from mailqueue.tracking.keyring import Keyring
from mailqueue.vault.masterkey import master_key_of


def keyring_of(settings: Settings) -> Keyring:
    """Return the keyring that creates and opens the tokens of links in mail."""
    return Keyring(partial(master_key_of, settings))

"""Test mode: mail of a test key is sent to the project's trap only. Pure."""

from collections.abc import Mapping
from typing import Any

from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.projects.model import Caller


def with_test_mode(caller: Caller, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a mail, with those of test mail where the caller has a test key.

    Raises:
        InvalidField: a test key names a sender other than the trap.
        Conflict: a test key in a project without a trap.
    """
    if not caller.is_test:
        return dict(options)
    if caller.trap_sender is None:
        raise Conflict(
            f"project {caller.project} has no trap, and a test key sends to the trap only"
        )
    given = options.get("sender")
    if given not in (None, caller.trap_sender):
        raise InvalidField("sender", f"a test key sends to the trap only, got {given!r}")
    return {name: value for name, value in options.items() if name != "sender"} | {"is_test": True}

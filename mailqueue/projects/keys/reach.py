"""What a key may give to a key that it creates: no more than it has itself."""

from collections.abc import Collection

from mailqueue.core.errors import Forbidden
from mailqueue.projects.keys.manage import checked_scopes
from mailqueue.projects.model import Caller


def check_reach(caller: Caller, scopes: Collection[str], *, is_test: bool) -> None:
    """Check that a new key has no more rights than its creator.

    Raises:
        Forbidden: it would have a scope that the creator lacks, or be live where that is a test
            key.
        InvalidField: there are no scopes, or one is unknown.
    """
    missing = [scope for scope in checked_scopes(scopes) if scope not in caller.scopes]
    if missing:
        raise Forbidden(f"scope {missing[0]}")
    if caller.is_test and not is_test:
        raise Forbidden("a live key")

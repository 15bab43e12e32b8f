"""Permissions that a request needs besides the scope of its endpoint."""

from mailqueue.api.http.auth import NEEDS_LIVE, OWN_ONLY
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import Forbidden
from mailqueue.projects.model import Scope


def may(call: RequestContext, scope: Scope) -> bool:
    """Return whether the key has a scope."""
    return scope in call.caller.scopes


def check_may(call: RequestContext, scope: Scope) -> None:
    """Check that the key has a scope.

    Raises:
        Forbidden: it has not.
    """
    if not may(call, scope):
        raise Forbidden(f"scope {scope}")


def check_may_change(call: RequestContext, scope: Scope) -> None:
    """Check that the key may change what has no test data of its own.

    Raises:
        Forbidden: it lacks the scope, or is a test key.
    """
    check_may(call, scope)
    if call.is_test:
        raise Forbidden(NEEDS_LIVE, OWN_ONLY)

"""The vault of a project as callers see it."""

from collections.abc import Sequence

from mailqueue.contract.maintenance import ProjectVault, WrappedBy
from mailqueue.contract.projects import VaultStatus


def status_of(vaults: Sequence[ProjectVault]) -> VaultStatus:
    """Return who holds the key of a project, by all that wrap its data keys."""
    own = next((one for one in vaults if one.wrapped_by is WrappedBy.OWN), None)
    if own is None:
        return VaultStatus("platform", None, is_locked=False, unlocked_until=None)
    return VaultStatus("project", own.master_key_id, own.is_locked, own.unlocked_until)

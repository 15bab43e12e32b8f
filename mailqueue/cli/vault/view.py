"""Output of the state of the vault."""

from collections.abc import Sequence

from mailqueue.cli.support.answer import print_result
from mailqueue.cli.support.output import Column, facts, table
from mailqueue.contract.maintenance import ProjectKeys, ProjectVault, VaultOverview, WrappedBy
from mailqueue.contract.value import Value, named
from mailqueue.vault.masterkey import MasterKey

_COLUMNS = (
    Column("project", "PROJECT"),
    Column("wrapped_by", "WRAPPED BY"),
    Column("master_key_id", "KEY"),
    Column("data_keys", "DATA KEYS", numeric=True),
    Column("state", "STATE"),
    Column("unlocked_until", "UNLOCKED UNTIL"),
)


def print_vaults(
    vaults: Sequence[ProjectVault], *, master: MasterKey | None, document: Value | None = None
) -> None:
    """Print the available keys, and how each project's data keys are wrapped."""
    rows = [_row(each, master) for each in vaults]
    keys = [] if master is None else list(master.ids)

    def as_text() -> None:
        facts([("master key", keys[:1]), ("previous master key", keys[1:])])
        table(rows, _COLUMNS)

    print_result(document or VaultOverview(keys, rows), as_text)


def _row(each: ProjectVault, master: MasterKey | None) -> ProjectKeys:
    return ProjectKeys(**named(each), state=_state(each, master))


def _state(each: ProjectVault, master: MasterKey | None) -> str:
    if each.wrapped_by is WrappedBy.OWN:
        return "locked" if each.is_locked else "unlocked"
    if master is None or master.named(each.master_key_id) is None:
        return "its key is not available"
    if master.id != each.master_key_id or each.to_clear:
        return "to rotate"
    return "ready"

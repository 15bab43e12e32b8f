# Made from mailqueue/client/asynchronous, which is to be changed instead:
# python -m tests.client.made --write

"""Imports that workers carry out."""

from uuid import UUID

from mailqueue.client import answers, imports
from mailqueue.client.imports import ImportedKind
from mailqueue.client.synchronous.calls import Calls


class Imports(Calls):
    """Methods for imports that workers carry out."""

    def begin_import_of_contacts(
        self, file: bytes, *, into_list: str | None = None
    ) -> answers.DataImport:
        """Begin an import of contacts: CSV with a header, or JSON; at most 256 MiB.

        One of at most 30 MiB is begun once, also when a response is lost; a larger one is not
        retried.
        """
        return self._ask(imports.begin("contacts", file, {"list": into_list}))

    def begin_import_of_suppressions(
        self, file: bytes, *, reason: str | None = None
    ) -> answers.DataImport:
        """Begin an import of suppressions, with the reason of lines that have none.

        The file is as that of contacts, and retried as that is.
        """
        return self._ask(imports.begin("suppressions", file, {"reason": reason}))

    def get_import(self, kind: ImportedKind, import_id: UUID | str) -> answers.DataImport:
        """Return an import with its progress and the lines that were refused."""
        return self._ask(imports.one(kind, import_id))

    def cancel_import(self, kind: ImportedKind, import_id: UUID | str) -> answers.DataImport:
        """Cancel an import: no more lines are taken, and what was taken stays."""
        return self._ask(imports.cancel(kind, import_id))

    def list_imports(
        self, kind: ImportedKind, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.DataImport]:
        """Return one page of imports, newest first."""
        return self._ask(imports.list_page(kind, {"limit": limit, "cursor": cursor}))

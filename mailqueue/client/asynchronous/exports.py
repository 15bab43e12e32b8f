"""Exports to files."""

from typing import Unpack
from uuid import UUID

from mailqueue.client import answers, exports
from mailqueue.client.asynchronous.calls import AsyncCalls
from mailqueue.client.exports import ExportFilters


class AsyncExports(AsyncCalls):
    """Methods for exports to files."""

    async def begin_export(
        self, kind: str, *, form: str = "csv", **filters: Unpack[ExportFilters]
    ) -> answers.DataExport:
        """Begin an export of emails, events, recipients, stats or suppressions to a file."""
        return await self._ask(exports.begin(kind, form, filters))

    async def get_export(self, export_id: UUID | str) -> answers.DataExport:
        """Return an export with its progress; once it is done, with a link to its file."""
        return await self._ask(exports.one("GET", export_id))

    async def delete_export(self, export_id: UUID | str) -> answers.DataExport:
        """Delete the file of an export, and end an unfinished one."""
        return await self._ask(exports.one("DELETE", export_id))

"""Sequences and enrollments."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from mailqueue.client import answers, sequences
from mailqueue.client.asynchronous.calls import AsyncCalls


class AsyncSequences(AsyncCalls):
    """Methods for sequences and enrollments."""

    async def sequences(self) -> tuple[answers.ContactSequence, ...]:
        """Return the sequences of the project, by name."""
        return tuple((await self._ask(sequences.list_all())).data)

    async def sequence(self, name: str) -> answers.ContactSequence:
        """Return a sequence."""
        return await self._ask(sequences.get(name))

    async def pause_sequence(self, name: str) -> answers.ContactSequence:
        """Pause a sequence: no step is done; contacts can be enrolled."""
        return await self._ask(sequences.act(name, "pause"))

    async def resume_sequence(self, name: str) -> answers.ContactSequence:
        """Resume a sequence; steps that became due meanwhile are done."""
        return await self._ask(sequences.act(name, "resume"))

    async def sequence_counts(
        self, name: str, *, version: int | None = None
    ) -> answers.SequenceCounts:
        """Count enrollments at each step of a version, by default the published one."""
        return await self._ask(sequences.counts(name, version))

    async def enroll(
        self, sequence: str, email: str, *, variables: Mapping[str, Any] | None = None
    ) -> answers.Enrolled:
        """Enroll the contact of an address in a sequence."""
        return await self._ask(sequences.enroll(sequence, {"email": email, "variables": variables}))

    async def import_enrollments(self, sequence: str, file: bytes) -> answers.EnrolledList:
        """Enroll the contacts of a file: CSV with a header, or JSON; at most 64 MiB.

        Invalid lines are in the answer and stop no others. It is not retried, and may be repeated.
        """
        return await self._ask(sequences.import_(sequence, file))

    async def enrollments(
        self,
        *,
        sequence: str | None = None,
        email: str | None = None,
        state: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> answers.Page[answers.Enrollment]:
        """Return one page of enrollments, newest first."""
        asked = {"sequence": sequence, "email": email, "state": state}
        return await self._ask(sequences.enrollments({**asked, "limit": limit, "cursor": cursor}))

    async def enrollment(self, enrollment_id: UUID | str) -> answers.EnrollmentDetail:
        """Return what an enrollment did and will do next."""
        return await self._ask(sequences.enrollment(enrollment_id))

    async def unenroll(self, enrollment_id: UUID | str) -> answers.EnrollmentDetail:
        """End an enrollment: no further step is done."""
        return await self._ask(sequences.end(enrollment_id))

# Made from mailqueue/client/asynchronous, which is to be changed instead:
# python -m tests.client.made --write

"""Sequences and enrollments."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from mailqueue.client import answers, sequences
from mailqueue.client.synchronous.calls import Calls


class Sequences(Calls):
    """Methods for sequences and enrollments."""

    def sequences(self) -> tuple[answers.ContactSequence, ...]:
        """Return the sequences of the project, by name."""
        return tuple((self._ask(sequences.list_all())).data)

    def sequence(self, name: str) -> answers.ContactSequence:
        """Return a sequence."""
        return self._ask(sequences.get(name))

    def pause_sequence(self, name: str) -> answers.ContactSequence:
        """Pause a sequence: no step is done; contacts can be enrolled."""
        return self._ask(sequences.act(name, "pause"))

    def resume_sequence(self, name: str) -> answers.ContactSequence:
        """Resume a sequence; steps that became due meanwhile are done."""
        return self._ask(sequences.act(name, "resume"))

    def sequence_counts(self, name: str, *, version: int | None = None) -> answers.SequenceCounts:
        """Count enrollments at each step of a version, by default the published one."""
        return self._ask(sequences.counts(name, version))

    def enroll(
        self, sequence: str, email: str, *, variables: Mapping[str, Any] | None = None
    ) -> answers.Enrolled:
        """Enroll the contact of an address in a sequence."""
        return self._ask(sequences.enroll(sequence, {"email": email, "variables": variables}))

    def import_enrollments(self, sequence: str, file: bytes) -> answers.EnrolledList:
        """Enroll the contacts of a file: CSV with a header, or JSON; at most 64 MiB.

        Invalid lines are in the answer and stop no others. It is not retried, and may be repeated.
        """
        return self._ask(sequences.import_(sequence, file))

    def enrollments(
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
        return self._ask(sequences.enrollments({**asked, "limit": limit, "cursor": cursor}))

    def enrollment(self, enrollment_id: UUID | str) -> answers.EnrollmentDetail:
        """Return what an enrollment did and will do next."""
        return self._ask(sequences.enrollment(enrollment_id))

    def unenroll(self, enrollment_id: UUID | str) -> answers.EnrollmentDetail:
        """End an enrollment: no further step is done."""
        return self._ask(sequences.end(enrollment_id))

"""The statements of sql/queries/sequences.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneRow, OneValue

# Written by python -m tests.rules.constants --write

ADVANCE_ENROLLMENTS = ManyRows.named("advance_enrollments")
"""sql/queries/sequences.sql:3: What becomes of claimed enrollments; their steps are done."""
TAKE_ENROLLMENT_SIGNALS = OneValue.named("take_enrollment_signals")
"""sql/queries/sequences.sql:7: How many enrollments were made due because something happened to
them.
"""
RELEASE_ENROLLMENTS = OneValue.named("release_enrollments")
"""sql/queries/sequences.sql:11: How many enrollments of sequences that are no longer paused were
released.
"""
RENEW_ENROLLMENT_ZONES = OneValue.named("renew_enrollment_zones")
"""sql/queries/sequences.sql:15: How many enrollments were computed anew by the present zone rules.
"""
LIST_SEQUENCES = ManyRows.named("list_sequences")
"""sql/queries/sequences.sql:19: The sequences of a project by name, or the one of a name."""
LIST_SEQUENCE_VERSIONS = ManyRows.named("list_sequence_versions")
"""sql/queries/sequences.sql:28: Versions of a sequence, newest first, or one."""
PUT_SEQUENCE = MaybeRow.named("put_sequence")
"""sql/queries/sequences.sql:37: Id of a sequence that was added or changed; NULL where it must be
new and exists, or must exist and does not.
"""
PUBLISH_SEQUENCE = MaybeRow.named("publish_sequence")
"""sql/queries/sequences.sql:41: The version that is published; NULL without such a sequence."""
PAUSE_SEQUENCE = OneValue.named("pause_sequence")
"""sql/queries/sequences.sql:45: Whether there is such a sequence; it is paused or resumed."""
REMOVE_SEQUENCE = OneValue.named("remove_sequence")
"""sql/queries/sequences.sql:49: Whether there was such a sequence."""
MOVE_ENROLLMENTS = OneRow.named("move_enrollments")
"""sql/queries/sequences.sql:53: How many enrollments were moved to the published version; NULL
without such a sequence.
"""
COUNT_SEQUENCE_STEPS = ManyRows.named("count_sequence_steps")
"""sql/queries/sequences.sql:58: Counts for each step of a version."""
ENROLL_ADDRESS = OneRow.named("enroll_address")
"""sql/queries/sequences.sql:65: The enrollment of the contact of an address, and whether it is a
new one.
"""
END_ENROLLMENTS = OneValue.named("end_enrollments")
"""sql/queries/sequences.sql:71: Ids of the enrollments that were ended."""
LIST_ENROLLMENTS = ManyRows.named("list_enrollments")
"""sql/queries/sequences.sql:75: Enrollments of a project, newest first."""
FIND_ENROLLMENT = MaybeRow.named("find_enrollment")
"""sql/queries/sequences.sql:92: One enrollment, with its variables and what it did."""
LIST_ENROLLMENT_STEPS = ManyRows.named("list_enrollment_steps")
"""sql/queries/sequences.sql:101: What an enrollment did, in order."""

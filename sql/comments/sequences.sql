-- Columns of sequences and enrollments.

SELECT mailqueue.describe_columns('sequences', ARRAY[
    ['id', 'Id of the sequence.'],
    ['name', 'Name of the sequence, unique in its project while it is not removed.'],
    ['description', 'What the sequence is for.'],
    ['category', 'Category of its mails, which recipients can unsubscribe from.'],
    ['reenroll', 'Whether a contact is enrolled again: never, after_completion, after_end (completed or left) or '
                 'restart.'],
    ['published_version', 'Version in which contacts are enrolled; NULL: none is published.'],
    ['paused_at', 'Time since which no step is done; NULL: it is not paused.'],
    ['removed_at', 'Time at which it was removed; NULL: it is in use.'],
    ['created_by', 'Who added the sequence.']
]);

SELECT mailqueue.describe_columns('sequence_versions', ARRAY[
    ['sequence_id', 'Id of the sequence.'],
    ['version', 'Number of the version, from 1.'],
    ['steps', 'Steps in order, each an object with name, template, delay, at, weekdays, condition and next.'],
    ['goal', 'Event after which a contact leaves; NULL: none.'],
    ['created_by', 'Who wrote the version last.'],
    ['published_at', 'Time at which it was published, after which it does not change; NULL: a draft.']
]);

SELECT mailqueue.describe_columns('sequence_enrollments', ARRAY[
    ['id', 'Id of the enrollment.'],
    ['sequence_id', 'Id of the sequence.'],
    ['contact_id', 'Id of the contact.'],
    ['email', 'Address of the contact when it was enrolled, or at its last step.'],
    ['is_test', 'Whether its mail is test mail.'],
    ['number', 'Number of the enrollment of this contact in this sequence, from 1.'],
    ['version', 'Version of the sequence that it follows.'],
    ['step', 'Name of the next step; NULL: there is none.'],
    ['steps_done', 'Steps that were done or skipped.'],
    ['waiting_from', 'Time from which the next step is waited for: the end of the one before, or the enrollment.'],
    ['has_waited', 'Whether its delay is over, and only the local time is waited for.'],
    ['due_at', 'Time at which the next step is due.'],
    ['time_zone', 'Time zone by which due_at was computed.'],
    ['zone_release', 'Release of the rules of time zones by which due_at was computed.'],
    ['variables', 'Variables of the mails.'],
    ['source', 'What enrolled it: an API key, a login, a file or an event rule.'],
    ['left_reason', 'Why it ended before the last step; NULL: it did not.'],
    ['enrolled_at', 'Time of the enrollment.']
]);

SELECT mailqueue.describe_columns('enrollment_steps', ARRAY[
    ['enrollment_id', 'Id of the enrollment.'],
    ['number', 'Number of the step in its enrollment, from 1.'],
    ['is_test', 'Whether its mail is test mail.'],
    ['sequence_id', 'Id of the sequence.'],
    ['version', 'Version of the sequence.'],
    ['step', 'Name of the step.'],
    ['result', 'sent: its mail was enqueued; skipped: its condition was not met.'],
    ['email_id', 'Id of its mail; NULL: it was skipped.'],
    ['done_at', 'Time at which it was done.']
]);

SELECT mailqueue.describe_columns('enrollment_exits', ARRAY[
    ['id', 'Number of the end: of an enrollment the lowest one counts.'],
    ['enrollment_id', 'Id of the enrollment.'],
    ['is_test', 'Whether its mail is test mail.'],
    ['reason', 'Why it ends.'],
    ['created_by', 'Who or what ended it.']
]);

SELECT mailqueue.describe_columns('enrollment_signals', ARRAY[
    ['id', 'Number of the signal.'],
    ['enrollment_id', 'Id of the enrollment that a worker looks at again.']
]);

SELECT mailqueue.describe_columns('sequence_events', ARRAY[
    ['id', 'Number of the event.'],
    ['contact_id', 'Id of the contact that it is about.'],
    ['is_test', 'Whether its mail is test mail.'],
    ['type', 'Type of the event, as consume() was told.'],
    ['occurred_at', 'Time at which it was recorded.']
]);

SELECT mailqueue.describe_columns('enrollments', ARRAY[
    ['id', 'Id of the enrollment.'],
    ['project_id', 'Id of the project.'],
    ['sequence', 'Name of the sequence.'],
    ['sequence_id', 'Id of the sequence.'],
    ['version', 'Version of the sequence that it follows.'],
    ['contact_id', 'Id of the contact.'],
    ['email', 'Address of the contact.'],
    ['is_test', 'Whether its mail is test mail.'],
    ['number', 'Number of the enrollment of this contact in this sequence, from 1.'],
    ['state', 'active, paused (its sequence is), completed, left (before the last step) or failed.'],
    ['reason', 'Why it ended before the last step; NULL: it did not.'],
    ['step', 'Name of the next step, or of the one before which it ended; NULL: there is none.'],
    ['due_at', 'Time at which the next step is due.'],
    ['time_zone', 'Time zone by which due_at was computed.'],
    ['steps_done', 'Steps that were done or skipped.'],
    ['variables', 'Variables of the mails.'],
    ['source', 'What enrolled it: an API key, a login, a file or an event rule.'],
    ['last_error', 'Why its step could not be done so far.'],
    ['status', 'State of the row in its queue.'],
    ['enrolled_at', 'Time of the enrollment.'],
    ['finished_at', 'Time at which it was finished; NULL: it is not.']
]);

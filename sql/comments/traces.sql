-- Columns of the tables of the export of traces.

SELECT mailqueue.describe_columns('trace_export', ARRAY[
    ['name', 'Always all: there is one row.'],
    ['exported_to', 'Time before which everything that was written is exported.'],
    ['after_key', 'Of what was written at that time, the last that is exported.'],
    ['horizon', 'Time before which no transaction commits anything once open_writers have ended.'],
    ['open_writers', 'Virtual ids of the transactions that the horizon waits for.'],
    ['holder', 'Id of the process that exports; NULL: none.'],
    ['lease_until', 'Time from which another process may export.'],
    ['spans', 'Spans that the collector has taken.'],
    ['left_out', 'Spans that were left out: the collector refused them, or was down for too long.'],
    ['last_error', 'Why the collector did not take the last page; NULL: it did.'],
    ['exported_at', 'Last time at which the collector took spans.']
]);

SELECT mailqueue.describe_columns('send_stages', ARRAY[
    ['email_id', 'Id of the email.'],
    ['noted_at', 'Time shortly before the outcome of the attempt was written.'],
    ['claimed_ms', 'When a worker claimed the email, in milliseconds before noted_at.'],
    ['begun_ms', 'When it began to compose the message, in milliseconds before noted_at.'],
    ['composed_ms', 'When the message was composed, in milliseconds before noted_at.'],
    ['answered_ms', 'When the server or provider had answered, in milliseconds before noted_at.']
]);

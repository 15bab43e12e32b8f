-- Columns of tables and views of maintenance, retention and the books.

SELECT mailqueue.describe_columns('maintenance_tasks', ARRAY[
    ['id', 'Id of the task.'],
    ['task', 'Name of the task, as `mailqueue maintain` takes it.'],
    ['every', 'Wait from the end of a run to the next one; may be changed by UPDATE.'],
    ['last_run_at', 'End of the last run; NULL: never.'],
    ['last_took', 'Length of the last run; NULL: not known.'],
    ['last_report', 'Report of the last run, for people.'],
    ['project_id', 'Always NULL: tasks belong to the installation.'],
    ['status', 'State in the queue: pending, assigned, held, or its outcome.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['run_at', 'Earliest time of the next attempt.'],
    ['attempts', 'Number of attempts so far.'],
    ['max_attempts', 'Always the largest number: a task is never given up.'],
    ['claim_no', 'Number of the claim that holds the row. Writes that name another number change nothing.'],
    ['worker_id', 'Id of the worker that holds the row; NULL: none.'],
    ['assigned_at', 'Time at which a worker claimed the row.'],
    ['lease_until', 'End of the lease; afterwards the row returns to its queue.'],
    ['last_error', 'Error of the last attempt.'],
    ['created_at', 'Time at which the row was created.'],
    ['crashes',
     'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.'],
    ['finished_at', 'Time at which the row was finished; NULL: it is not.']
]);

SELECT mailqueue.describe_columns('retained_kinds', ARRAY[
    ['kind', 'Name of the kind.'],
    ['table_name', 'Table of the records.'],
    ['time_column', 'Column with the age of a record.'],
    ['ended_column', 'Column that is NULL in records that must stay; NULL: none must.'],
    ['is_archived', 'Whether records leave by month, to files.'],
    ['is_swept', 'Whether records are deleted in batches.'],
    ['is_global', 'Whether projects have no rule of their own.'],
    ['else_column', 'Column with the age of records whose time_column is NULL.'],
    ['kept_while', 'SQL condition under which a record o stays after its retention.']
]);

SELECT mailqueue.describe_columns('retention_rules', ARRAY[
    ['project_id', 'Id of the project; NULL: all projects without a rule of their own.'],
    ['kind', 'Kind of the records, as in retained_kinds.'],
    ['hot_days', 'Days for which records stay in their table.'],
    ['warm_days', 'Age in days at which archive files move to the cold store; NULL: never.'],
    ['keep_days', 'Age in days at which records are deleted for good; NULL: never.']
]);

SELECT mailqueue.describe_columns('archives', ARRAY[
    ['id', 'Id of the file.'],
    ['project_id', 'Id of the project.'],
    ['kind', 'Kind of the records, as in retention_rules.'],
    ['month', 'First day of the month of the records.'],
    ['part', 'Number of the file within the month, from 1.'],
    ['state', 'writing, written, verified, archived, restored or purged.'],
    ['tier', 'warm or cold: the store that the file is in.'],
    ['store',
     'URL of the folder or bucket that path is in. After moving a whole store, change it by UPDATE and run '
     'mailqueue archive verify.'],
    ['path', 'Path of the file within the store.'],
    ['revision', 'Number of times the file was written again.'],
    ['records', 'Records in the file; NULL while it is written.'],
    ['bytes', 'Size of the file in bytes; NULL while it is written.'],
    ['sha256', 'SHA-256 of the file, in hexadecimal digits.'],
    ['first_at', 'Time of the first record; NULL: the file is empty.'],
    ['last_at', 'Time of the last record; NULL: the file is empty.'],
    ['removed', 'Number of records, from the first, that the table no longer has.'],
    ['gone_elsewhere', 'Positions of those records that are emails in the queue again.'],
    ['keep_until', 'End of the time for which restored records stay in the table.'],
    ['written_on', 'Host that wrote the file.'],
    ['written_at', 'Time at which the file was written.'],
    ['verified_at', 'Time at which the whole file was last read back.'],
    ['archived_at', 'Time since which the table has none of its records; NULL: it has some.'],
    ['purged_at', 'Time at which the file was deleted; NULL: it exists.'],
    ['leftover_store', 'Store of a replaced file that is still to be deleted.'],
    ['leftover_path', 'Path of a replaced file that is still to be deleted.']
]);

SELECT mailqueue.describe_columns('archived_days', ARRAY[
    ['project_id', 'Id of the project.'],
    ['day', 'Day of acceptance (UTC).'],
    ['status', 'Outcome of the emails.'],
    ['emails', 'Emails with this outcome that are in the archive.']
]);

SELECT mailqueue.describe_columns('accepted_days', ARRAY[
    ['project_id', 'Id of the project.'],
    ['day', 'Day of acceptance (UTC).'],
    ['emails', 'Emails accepted on that day.']
]);

SELECT mailqueue.describe_columns('book_checks', ARRAY[
    ['is_only', 'Always true: the table has one row.'],
    ['checked_at', 'Time of the last complete comparison.'],
    ['faults', 'A sentence for each difference; empty: the books agree.']
]);

SELECT mailqueue.describe_columns('refusals', ARRAY[
    ['reason', 'free_space, size_limit, or the word of an operator.'],
    ['message', 'Sentence that completes "mail is not accepted now: …".'],
    ['since', 'Time of the refusal.'],
    ['valid_until', 'End of the refusal; renewed while the reason lasts.'],
    ['project_id', 'Id of the project whose mail is refused; NULL: all mail.']
]);

SELECT mailqueue.describe_columns('space_reports', ARRAY[
    ['host', 'Host of the PostgreSQL server, as its reporter names it.'],
    ['place', 'data, wal, or limit for the setting database_size_limit.'],
    ['free_bytes', 'Free space in bytes; below 0: the limit is exceeded.'],
    ['total_bytes', 'Size in bytes.'],
    ['reported_at', 'Time of the report.']
]);

SELECT mailqueue.describe_columns('schema_migrations', ARRAY[
    ['version', 'Number of the migration.'],
    ['name', 'Name of the file, without number and ending.'],
    ['sha256', 'SHA-256 of the file, in hexadecimal digits.'],
    ['applied_at', 'Time at which it was applied.']
]);

SELECT mailqueue.describe_columns('schema_objects', ARRAY[
    ['path', 'Path of the file below sql/.'],
    ['sha256', 'SHA-256 of the file, in hexadecimal digits.'],
    ['applied_at', 'Time at which it was applied.']
]);

SELECT mailqueue.describe_columns('retention', ARRAY[
    ['project_id', 'Id of the project.'],
    ['project', 'Name of the project.'],
    ['kind', 'Kind of the records, as in retained_kinds.'],
    ['hot_days', 'Days for which records stay in their table.'],
    ['warm_days', 'Age in days at which archive files move to the cold store; NULL: never.'],
    ['keep_days', 'Age in days at which records are deleted for good; NULL: never.'],
    ['is_own', 'Whether the project has a rule of its own.']
]);

SELECT mailqueue.describe_columns('archive_files', ARRAY[
    ['id', 'Id of the file.'],
    ['project', 'Name of the project.'],
    ['kind', 'Kind of the records, as in retention_rules.'],
    ['month', 'First day of the month of the records.'],
    ['part', 'Number of the file within the month, from 1.'],
    ['state', 'writing, written, verified, archived, restored or purged.'],
    ['tier', 'warm or cold: the store that the file is in.'],
    ['records', 'Records in the file; NULL while it is written.'],
    ['bytes', 'Size of the file in bytes; NULL while it is written.'],
    ['first_at', 'Time of the first record; NULL: the file is empty.'],
    ['last_at', 'Time of the last record; NULL: the file is empty.'],
    ['store', 'URL of the folder or bucket that path is in.'],
    ['path', 'Path of the file within the store.'],
    ['sha256', 'SHA-256 of the file, in hexadecimal digits.'],
    ['written_at', 'Time at which the file was written.'],
    ['verified_at', 'Time at which the whole file was last read back.'],
    ['archived_at', 'Time since which the table has none of its records; NULL: it has some.'],
    ['keep_until', 'End of the time for which restored records stay in the table.'],
    ['purged_at', 'Time at which the file was deleted; NULL: it exists.']
]);

SELECT mailqueue.describe_columns('books', ARRAY[
    ['project', 'Name of the project.'],
    ['day', 'Day of acceptance (UTC).'],
    ['accepted', 'Emails that were accepted.'],
    ['sent', 'Emails that were sent.'],
    ['failed', 'Emails that failed.'],
    ['suppressed', 'Emails whose recipients were suppressed.'],
    ['expired', 'Emails that expired.'],
    ['cancelled', 'Emails that were cancelled.'],
    ['queued', 'Emails that are pending or assigned.'],
    ['held', 'Emails that are held.'],
    ['difference', 'Accepted emails less all others; not 0: rows are missing or surplus.'],
    ['archived', 'Emails of the above that are in the archive.']
]);

SELECT mailqueue.describe_columns('health', ARRAY[
    ['name', 'Name of the check.'],
    ['state', 'ok, warning or alarm.'],
    ['found', 'Result, as a sentence.'],
    ['fix', 'What to do; NULL: nothing.']
]);

SELECT mailqueue.describe_columns('time_zone_releases', ARRAY[
    ['release', 'Release of the IANA time zone database, such as 2026b.'],
    ['until', 'End of the rules: later local times are refused.'],
    ['installed_at', 'Time at which the rules were loaded.']
]);

SELECT mailqueue.describe_columns('time_zones', ARRAY[
    ['name', 'Name of the zone, such as Europe/Berlin.'],
    ['rules', 'Zone in `time_zone_offsets` whose offsets it has.']
]);

SELECT mailqueue.describe_columns('time_zone_offsets', ARRAY[
    ['zone', 'Zone, as in `time_zones.rules`.'],
    ['from_at', 'Time of the change; the first row of a zone holds before it too.'],
    ['utc_offset', 'Difference of local time from UTC, from then on.']
]);

-- Columns of schedules and their runs.

SELECT mailqueue.describe_columns('schedules', ARRAY[
    ['id', 'Id of the schedule.'],
    ['name', 'Name, unique among the unfinished schedules of the project; NULL: none.'],
    ['schedule_type', 'once; cron; local: at a time on the clock of each recipient.'],
    ['once_at', 'Time at which it runs once; NULL: by a cron expression or on recipients'' clocks.'],
    ['local_at', 'Time on the clock of each recipient at which it runs once, without a zone.'],
    ['cron_expression', 'Cron expression of five fields, or a word such as @daily; NULL: it runs once.'],
    ['time_zone', 'Time zone of the cron expression, an IANA name.'],
    ['message', 'Its mail in the keys of enqueue(), without a recipient.'],
    ['recipients', 'Recipients: objects with email, name, timezone, language and variables, or with list.'],
    ['missed', 'Of occurrences that are late: skip them, run the latest, or all.'],
    ['overlap', 'While a run is being made: skip an occurrence, or queue it.'],
    ['ends_at', 'No occurrence after it runs; NULL: no end.'],
    ['max_runs', 'Number of runs after which it is completed; NULL: no bound.'],
    ['spread_seconds', 'Length of the window over which the mail of a run is spread, in seconds.'],
    ['is_test', 'Whether its mail is test mail.'],
    ['created_by', 'Who added it.'],
    ['next_run_at', 'The next occurrence; NULL: there is none, or it is to be computed.'],
    ['next_local', 'The next occurrence on the clock of time_zone.'],
    ['is_wall_clock', 'Whether the time of one that runs once was given on the clock of time_zone, without an offset.'],
    ['plan_after', 'The next occurrence is to be computed: the first one after this time; NULL: it is known.'],
    ['zone_release', 'Release of the rules of time zones by which next_run_at was computed.'],
    ['last_run_at', 'The occurrence that ran last.'],
    ['last_missed_at', 'The occurrence that was left out last.'],
    ['run_count', 'Number of runs.'],
    ['status', 'State: pending, assigned, paused, completed, cancelled or failed.'],
    ['run_at', 'Time at which a worker takes it up: its next occurrence, or the next attempt.']
]);

SELECT mailqueue.describe_columns('schedule_runs', ARRAY[
    ['id', 'Id of the run, and of its first batch.'],
    ['schedule_id', 'Id of the schedule.'],
    ['number', 'Number of the run in its schedule, from 1.'],
    ['occurrence', 'The occurrence that it is for; unique in its schedule.'],
    ['local_time', 'The occurrence on the clock of the schedule.'],
    ['started_by', 'schedule, or request for a run that a person asked for.'],
    ['message', 'Message of the schedule when the run began; NULL: its mail is made.'],
    ['recipients', 'Recipients of the schedule when the run began; NULL: its mail is made.'],
    ['place', 'Number of recipients of the column recipients whose mail is made; of a run that is cancelled, number '
              'of batches whose mail is.'],
    ['after_contact', 'Id of the last contact whose mail is made, of the list at that place.'],
    ['queued', 'Number of mails that were queued.'],
    ['suppressed', 'Number of recipients that are suppressed.'],
    ['rejected', 'Number of recipients that were refused.'],
    ['by_zone_source', 'Number of recipients by what told their time zone: recipient, contact, country or project.'],
    ['batch_ids', 'Ids of its batches, of at most 10,000 mails each.'],
    ['stop_requested_at', 'Time at which the run was cancelled; it ends with the part that is being made.'],
    ['is_test', 'Whether its mail is test mail.'],
    ['status', 'State: pending, assigned, done, cancelled or failed.']
]);

SELECT mailqueue.describe_columns('schedule_recipients', ARRAY[
    ['run_id', 'Id of the run.'],
    ['email_key', 'Address as addresses are compared.'],
    ['email_id', 'Id of the mail; NULL: it was refused.'],
    ['status', 'queued, suppressed, rejected or duplicate.'],
    ['reason', 'Why it was refused or suppressed.'],
    ['send_at', 'Time at which the mail is due.'],
    ['time_zone', 'Time zone of the recipient; NULL: the time is the same for all.'],
    ['zone_source', 'What told the time zone: recipient, contact, country or project.']
]);

SELECT mailqueue.describe_columns('broadcasts', ARRAY[
    ['id', 'Id of the broadcast.'],
    ['name', 'Name, for its authors alone.'],
    ['list_id', 'Id of the list, which may have been removed since; NULL: none was chosen.'],
    ['topic', 'Category of its mail, of the preference centre; NULL: marketing.'],
    ['content', 'Sender, subject, texts and reply addresses, or all that a single send says, as they were given.'],
    ['summary', 'What lists show of a single send, without its texts; NULL: of Resend''s API.'],
    ['schedule_id', 'Id of the schedule that sends it; NULL: a draft.'],
    ['begun_at', 'Time at which it was given to a schedule; NULL: a draft.'],
    ['created_by', 'Author: API key, administrator or operating system user.']
]);

SELECT mailqueue.describe_columns('scheduled_emails', ARRAY[
    ['id', 'Id of the schedule.'],
    ['project_id', 'Id of the project.'],
    ['name', 'Name of the schedule; NULL: none.'],
    ['schedule_type', 'once, cron or local.'],
    ['run_at', 'Time at which it runs once; NULL: it recurs, or runs on recipients'' clocks.'],
    ['cron_expression', 'Cron expression; NULL: it runs once.'],
    ['timezone', 'Time zone of the cron expression, an IANA name.'],
    ['template_slug', 'Template of its mail, with @ and a version if it names one; NULL: none.'],
    ['template_version_id', 'Id of the version that it names, or that is published now; NULL: there is none.'],
    ['language', 'Language of the template, unless a recipient has one; NULL: that of the contact or of the template.'],
    ['payload', 'Recipients, variables and options of its mail.'],
    ['status', 'State: active, paused, cancelled, completed or failed.'],
    ['next_run_at', 'The next occurrence; NULL: there is none, or it is being computed.'],
    ['last_run_at', 'The occurrence that ran last.'],
    ['run_count', 'Number of runs.'],
    ['created_at', 'Time at which it was added.']
]);

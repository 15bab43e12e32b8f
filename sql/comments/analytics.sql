-- Columns of tables and views of counts.

SELECT mailqueue.describe_columns('stats_minutes', ARRAY[
    ['project_id', 'Id of the project; all zero: all projects together.'],
    ['is_test', 'Whether it is test mail.'],
    ['dimension',
     'What the emails have in common: total, campaign, template, version, category, tag, account, provider, '
     'domain, provider_domain or version_link.'],
    ['value', 'Value of the dimension; empty: of total, or of all values without a row of their own.'],
    ['value2', 'Second value of a pair; otherwise empty.'],
    ['started_at', 'Start of the minute.'],
    ['accepted', 'Emails accepted that have an outcome.'],
    ['sent', 'Emails that a server or provider took.'],
    ['failed', 'Emails that failed.'],
    ['expired', 'Emails that expired.'],
    ['suppressed', 'Emails whose recipient is suppressed.'],
    ['cancelled', 'Emails that were cancelled.'],
    ['delivered', 'Emails of which a delivery was reported.'],
    ['soft_bounces', 'Emails of which a temporary refusal was reported.'],
    ['hard_bounces', 'Emails of which a permanent refusal was reported.'],
    ['complaints', 'Emails that a recipient complained about.'],
    ['unsubscribes', 'Emails through which a recipient unsubscribed.'],
    ['opens', 'Opens by people.'],
    ['unique_opens', 'Emails opened by people.'],
    ['machine_opens', 'Opens by programs.'],
    ['unique_machine_opens', 'Emails opened by programs.'],
    ['clicks', 'Clicks by people.'],
    ['unique_clicks', 'Emails in which people clicked.'],
    ['machine_clicks', 'Clicks by programs.'],
    ['unique_machine_clicks', 'Emails in which programs clicked.']
]);

SELECT mailqueue.describe_columns('stats_quarters', ARRAY[
    ['project_id', 'Id of the project; all zero: all projects together.'],
    ['is_test', 'Whether it is test mail.'],
    ['dimension',
     'What the emails have in common: total, campaign, template, version, category, tag, account, provider, '
     'domain, provider_domain or version_link.'],
    ['value', 'Value of the dimension; empty: of total, or of all values without a row of their own.'],
    ['value2', 'Second value of a pair; otherwise empty.'],
    ['started_at', 'Start of the quarter of an hour.'],
    ['accepted', 'Emails accepted that have an outcome.'],
    ['sent', 'Emails that a server or provider took.'],
    ['failed', 'Emails that failed.'],
    ['expired', 'Emails that expired.'],
    ['suppressed', 'Emails whose recipient is suppressed.'],
    ['cancelled', 'Emails that were cancelled.'],
    ['delivered', 'Emails of which a delivery was reported.'],
    ['soft_bounces', 'Emails of which a temporary refusal was reported.'],
    ['hard_bounces', 'Emails of which a permanent refusal was reported.'],
    ['complaints', 'Emails that a recipient complained about.'],
    ['unsubscribes', 'Emails through which a recipient unsubscribed.'],
    ['opens', 'Opens by people.'],
    ['unique_opens', 'Emails opened by people.'],
    ['machine_opens', 'Opens by programs.'],
    ['unique_machine_opens', 'Emails opened by programs.'],
    ['clicks', 'Clicks by people.'],
    ['unique_clicks', 'Emails in which people clicked.'],
    ['machine_clicks', 'Clicks by programs.'],
    ['unique_machine_clicks', 'Emails in which programs clicked.']
]);

SELECT mailqueue.describe_columns('stats_hourly', ARRAY[
    ['project', 'Name of the project; NULL: all projects together.'],
    ['is_test', 'Whether it is test mail.'],
    ['dimension',
     'What the emails have in common: total, campaign, template, version, category, tag, account, provider, '
     'domain, provider_domain or version_link.'],
    ['value', 'Value of the dimension; empty: of total, or of all values without a row of their own.'],
    ['value2', 'Second value of a pair; otherwise empty.'],
    ['hour', 'Start of the hour (UTC).'],
    ['accepted', 'Emails accepted that have an outcome.'],
    ['sent', 'Emails that a server or provider took.'],
    ['failed', 'Emails that failed.'],
    ['expired', 'Emails that expired.'],
    ['suppressed', 'Emails whose recipient is suppressed.'],
    ['cancelled', 'Emails that were cancelled.'],
    ['delivered', 'Emails of which a delivery was reported.'],
    ['soft_bounces', 'Emails of which a temporary refusal was reported.'],
    ['hard_bounces', 'Emails of which a permanent refusal was reported.'],
    ['complaints', 'Emails that a recipient complained about.'],
    ['unsubscribes', 'Emails through which a recipient unsubscribed.'],
    ['opens', 'Opens by people.'],
    ['unique_opens', 'Emails opened by people.'],
    ['machine_opens', 'Opens by programs.'],
    ['unique_machine_opens', 'Emails opened by programs.'],
    ['clicks', 'Clicks by people.'],
    ['unique_clicks', 'Emails in which people clicked.'],
    ['machine_clicks', 'Clicks by programs.'],
    ['unique_machine_clicks', 'Emails in which programs clicked.']
]);

SELECT mailqueue.describe_columns('stats_daily', ARRAY[
    ['project', 'Name of the project; NULL: all projects together.'],
    ['is_test', 'Whether it is test mail.'],
    ['dimension',
     'What the emails have in common: total, campaign, template, version, category, tag, account, provider, '
     'domain, provider_domain or version_link.'],
    ['value', 'Value of the dimension; empty: of total, or of all values without a row of their own.'],
    ['value2', 'Second value of a pair; otherwise empty.'],
    ['day', 'Day (UTC).'],
    ['accepted', 'Emails accepted that have an outcome.'],
    ['sent', 'Emails that a server or provider took.'],
    ['failed', 'Emails that failed.'],
    ['expired', 'Emails that expired.'],
    ['suppressed', 'Emails whose recipient is suppressed.'],
    ['cancelled', 'Emails that were cancelled.'],
    ['delivered', 'Emails of which a delivery was reported.'],
    ['soft_bounces', 'Emails of which a temporary refusal was reported.'],
    ['hard_bounces', 'Emails of which a permanent refusal was reported.'],
    ['complaints', 'Emails that a recipient complained about.'],
    ['unsubscribes', 'Emails through which a recipient unsubscribed.'],
    ['opens', 'Opens by people.'],
    ['unique_opens', 'Emails opened by people.'],
    ['machine_opens', 'Opens by programs.'],
    ['unique_machine_opens', 'Emails opened by programs.'],
    ['clicks', 'Clicks by people.'],
    ['unique_clicks', 'Emails in which people clicked.'],
    ['machine_clicks', 'Clicks by programs.'],
    ['unique_machine_clicks', 'Emails in which programs clicked.']
]);

SELECT mailqueue.describe_columns('stats_latency', ARRAY[
    ['project_id', 'Id of the project.'],
    ['is_test', 'Whether it is test mail.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['started_at', 'Start of the quarter of an hour.'],
    ['up_to_ms', 'Upper bound of the class of response times, in milliseconds.'],
    ['attempts', 'Number of attempts in the class.']
]);

SELECT mailqueue.describe_columns('stats_values', ARRAY[
    ['project_id', 'Id of the project; all zero: all projects together.'],
    ['is_test', 'Whether it is test mail.'],
    ['dimension',
     'What the emails have in common: total, campaign, template, version, category, tag, account, provider, '
     'domain, provider_domain or version_link.'],
    ['value', 'Value of the dimension; empty: of total, or of all values without a row of their own.'],
    ['value2', 'Second value of a pair; otherwise empty.'],
    ['day', 'Day (UTC).']
]);

SELECT mailqueue.describe_columns('stats_accounts', ARRAY[
    ['sender_account_id', 'Id of the sender account.'],
    ['project_id', 'Id of the project.'],
    ['name', 'Name that it had when it was first counted.'],
    ['provider', 'Provider of the account.'],
    ['tells_since', 'Time of the first delivery that it reported; NULL: it has reported none.']
]);

SELECT mailqueue.describe_columns('stats_corrections', ARRAY[
    ['id', 'Number of the correction.'],
    ['project_id', 'Id of the project.'],
    ['email_id', 'Id of the email.'],
    ['kind',
     'removed: queued again; judged: clicks turned out to be made by a program; erased: its recipient was '
     'erased.'],
    ['known_at', 'removed: time at which the outcome was written.'],
    ['status', 'removed: the outcome.'],
    ['is_test', 'removed: whether it is test mail.'],
    ['created_at', 'removed: time at which the email was accepted.'],
    ['finished_at', 'removed: time of the outcome.'],
    ['sender_account_id', 'removed: id of the sender account that finished it.'],
    ['event_ids', 'judged: ids of the events.'],
    ['domain', 'Domain of the recipient before.']
]);

SELECT mailqueue.describe_columns('stats_state', ARRAY[
    ['id', 'Id of the row; mailqueue why explains it.'],
    ['name', 'all: only this row is worked on.'],
    ['project_id', 'Always NULL: it is about all projects.'],
    ['folded_to', 'Time before which everything that was written is counted.'],
    ['horizon', 'Time before which no transaction commits anything once open_writers have ended.'],
    ['open_writers', 'Virtual ids of the transactions that the horizon waits for.'],
    ['step', 'Time that the next part of counting covers, at most.'],
    ['counted_at', 'Last time at which something was counted.'],
    ['rebuilt_from', 'Start of what is counted anew; NULL: nothing is.'],
    ['rebuilt_to', 'End of what is counted anew.'],
    ['is_cleared', 'Whether the old counts of it are deleted.']
]);

SELECT mailqueue.describe_columns('exports', ARRAY[
    ['id', 'Id of the export.'],
    ['kind', 'What is exported: emails, events, recipients, stats or suppressions.'],
    ['format', 'Format of the file: csv, json or ndjson.'],
    ['filter', 'Conditions that a row matches, but the time.'],
    ['since', 'Start of the time; -infinity: no bound.'],
    ['until', 'End of the time.'],
    ['is_test', 'Whether test mail is exported, in place of live mail.'],
    ['requested_by', 'Who began the export.'],
    ['rows_estimated', 'Number of rows in the time, by the statistics of PostgreSQL at the begin.'],
    ['place', 'Key of the last row that was read; NULL: nothing is read yet, {}: all is written.'],
    ['rows', 'Number of rows that are written.'],
    ['parts', 'Number of parts that are written.'],
    ['bytes', 'Size of the rows that are written, in bytes.'],
    ['stored_bytes', 'Size of the stored parts, which are compressed, in bytes.'],
    ['gone_at', 'Time at which the file was deleted before its end; NULL: it was not.'],
    ['gone_reason', 'deleted: by a request; erased: a person of the project was erased.'],
    ['status', 'State in the queue: pending, assigned, done, deleted or failed.'],
    ['max_attempts', 'Number of failed attempts in a row after which the export fails.']
]);

SELECT mailqueue.describe_columns('export_parts', ARRAY[
    ['export_id', 'Id of the export.'],
    ['number', 'Number of the part, from 0.'],
    ['rows', 'Number of its rows.'],
    ['data', 'The rows as they are in the file, compressed by zlib.']
]);

SELECT mailqueue.describe_columns('ab_tests', ARRAY[
    ['id', 'Id of the test.'],
    ['name', 'Name for people.'],
    ['is_test', 'Whether its mail is test mail, which goes to the trap.'],
    ['metric', 'What decides: open_rate or click_rate, of the emails that were sent.'],
    ['alpha', 'Highest p-value at which a difference is significant.'],
    ['evaluate_after', 'Time from the first recipient to the evaluation.'],
    ['min_sample', 'Emails that each variant must have sent; with fewer nothing is compared.'],
    ['sample_percent', 'Percent of the recipients that are in the sample; the others wait for the decision.'],
    ['if_none', 'What the others get without a winner: first: the first variant; shares: variants by their shares.'],
    ['options', 'Options of the mail, as enqueue() has them.'],
    ['assignment_key', 'Key of the hash that assigns recipients; deleted when the test is over.'],
    ['requested_by', 'Who created the test.'],
    ['started_at', 'Time of the first recipient; NULL: there is none.'],
    ['result', 'winner, no_difference, too_few (emails were sent) or by_hand; NULL: not decided.'],
    ['winner', 'Number of the variant that has won; NULL: none.'],
    ['decided_at', 'Time of the decision; NULL: there is none.'],
    ['decided_by', 'Who decided by hand; NULL: the evaluation.'],
    ['cancelled_by', 'Who cancelled the test; NULL: it was not.'],
    ['status', 'State in the queue: pending, assigned, completed, cancelled or failed.'],
    ['max_attempts', 'Number of failed attempts in a row after which the evaluation fails.']
]);

SELECT mailqueue.describe_columns('ab_test_variants', ARRAY[
    ['ab_test_id', 'Id of the test.'],
    ['number', 'Number of the variant, from 1.'],
    ['name', 'Name of the variant, such as A.'],
    ['share', 'Percent of the sample that gets it.'],
    ['contents', 'Its content, in each language of its template.'],
    ['languages', 'Languages of contents, in their order; empty: not of a template.'],
    ['sent', 'Emails of the sample that were sent before the decision; NULL: not decided.'],
    ['opened', 'Of those, emails that people opened.'],
    ['clicked', 'Of those, emails in which people clicked.'],
    ['p_value', 'p-value of the difference from the first variant, corrected by Holm; NULL: not compared.']
]);

SELECT mailqueue.describe_columns('ab_test_recipients', ARRAY[
    ['ab_test_id', 'Id of the test.'],
    ['place', 'Keyed hash of test and address.'],
    ['is_sample', 'Whether it is in the sample, whose emails are sent at once and counted.'],
    ['variant', 'Number of the variant; before the decision that which its hash assigns.'],
    ['recipient', 'Address, name, variables and language while it waits; NULL afterwards.'],
    ['outcome', 'accepted, suppressed, rejected or cancelled; NULL: waits for the decision.'],
    ['email_id', 'Id of its email.'],
    ['reason', 'Why there is no email, or why it was suppressed.']
]);

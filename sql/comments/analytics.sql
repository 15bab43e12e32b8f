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

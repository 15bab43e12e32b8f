-- Columns of tables and views of sender accounts, limits and routing.

SELECT mailqueue.describe_columns('sender_accounts', ARRAY[
    ['id', 'Id of the account; email_queue.sender takes its name.'],
    ['project_id', 'Id of the project.'],
    ['name', 'Name of the account, unique in its project.'],
    ['provider', 'Provider, as in providers; trap: the built-in mail trap.'],
    ['email', 'From address of emails that name none.'],
    ['display_name', 'Display name beside that From address.'],
    ['smtp_host', 'Host name or IP address of the SMTP server; NULL: a provider with an HTTP API.'],
    ['smtp_port', 'Port of the SMTP server.'],
    ['smtp_username', 'User name of the login; for a provider with an HTTP API the id of the key, or the mailbox.'],
    ['smtp_password',
     'Encrypted: the password; for a provider with an HTTP API the key, or a document with several secrets.'],
    ['smtp_tls', 'none, starttls or implicit.'],
    ['is_private_ok', 'Whether the server may have a private address; an operator said so.'],
    ['priority', 'Accounts with a lower number are tried first.'],
    ['daily_limit', 'Recipients per day; NULL: no limit.'],
    ['rate_per_second', 'Recipients per second; NULL: no limit.'],
    ['burst', 'Recipients that may be sent to in one second beyond the rate; NULL: what the rate gives in one second.'],
    ['batch_size', 'Emails that one claim takes.'],
    ['send_delay_ms', 'Wait between two emails, in milliseconds.'],
    ['time_zone', 'Time zone in which the day begins at midnight, such as Europe/Berlin.'],
    ['max_connections', 'Maximum connections of one worker process.'],
    ['status', 'active, paused or suspended.'],
    ['status_reason', 'Reason of a pause or suspension.'],
    ['status_until', 'End of a pause; NULL: until it is resumed.'],
    ['paused_by', 'Actor of the pause; NULL: not paused.'],
    ['paused_at', 'Time of the pause; NULL: not paused.'],
    ['revision', 'Number of changes, by which workers notice that what they hold is old.'],
    ['notes', 'Description, for people.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.'],
    ['warm_up', 'Recipients on the first day with mail, on the second, and so on; NULL: no warm-up.'],
    ['api_url', 'URL of the provider''s API; NULL: the usual one.'],
    ['provider_settings', 'Settings of the provider by name, as in docs/providers.md; not for secrets.'],
    ['is_fallback', 'Whether the account is used only while no regular account may send.'],
    ['bounce_warn', 'Hard bounces in percent of sent mail at which doctor warns; 0: never.'],
    ['bounce_pause', 'Hard bounces in percent of sent mail at which the account is paused; 0: never.'],
    ['complaint_warn', 'Complaints in percent of sent mail at which doctor warns; 0: never.'],
    ['complaint_pause', 'Complaints in percent of sent mail at which the account is paused; 0: never.'],
    ['rates_from', 'Time at which an account paused for its rates was resumed; its rates are counted from then.'],
    ['rates_sent_before', 'Recipients sent to on the day of rates_from before that time.'],
    ['public_id',
     'Id of the account in the HTTP API; unlike the number in id, it is not one of a sequence that projects share.'],
    ['hourly_limit', 'Recipients in any 60 minutes; NULL: no limit.'],
    ['minute_limit', 'Recipients in any 60 seconds; NULL: no limit.'],
    ['last_used_at',
     'Time at which a worker last took mail for the account, about a minute old; the view sender_headroom has the '
     'present one. NULL: never.']
]);

SELECT mailqueue.describe_columns('providers', ARRAY[
    ['name', 'Name of the provider, as sender_accounts.provider has it.'],
    ['label', 'Name for people.'],
    ['has_api', 'Whether mail is sent over HTTP.'],
    ['sends_events', 'Whether the provider reports deliveries and bounces.']
]);

SELECT mailqueue.describe_columns('limits', ARRAY[
    ['id', 'Id of the limit; 0: the whole installation.'],
    ['project_id', 'Id of the project; NULL: a domain, or the whole installation.'],
    ['sender_account_id', 'Id of the sender account; NULL: the limit of a project, domain or the installation.'],
    ['daily_limit', 'Recipients per day; NULL: no limit.'],
    ['rate_per_second', 'Recipients a second that claims keep to; see pace_of_rate().'],
    ['burst', 'Recipients that may be sent to in one second beyond the rate.'],
    ['batch_size', 'Emails that one claim takes.'],
    ['time_zone', 'Time zone in which the day begins at midnight, such as Europe/Berlin.'],
    ['blocked_reason', 'paused, suspended, unreachable and so on; NULL: open.'],
    ['blocked_until', 'End of the block; NULL while blocked: until an operator ends it.'],
    ['failures', 'Number of times in a row that the circuit of a sender account opened, or stayed open after a probe.'],
    ['domain', 'Recipient domain; NULL: the limit is no domain''s.'],
    ['warm_up', 'Recipients on the first day with mail, on the second, and so on; NULL: no warm-up.'],
    ['warm_up_from', 'Day from which days with mail count for warm-up.'],
    ['locked_from', 'For a project with its own key: time from which its secrets cannot be opened and its mail waits.'],
    ['circuit_opened_at', 'Time at which the circuit opened; NULL: closed. Half open once blocked_until is over.'],
    ['circuit_held_until',
     'Time until which no further mail probes the circuit: the outcome of the last probe may not be written yet.'],
    ['circuit_closed_at', 'Time at which the circuit closed; earlier failures no longer count.'],
    ['circuit_probe_claim', 'Number of the claim that probes the circuit.'],
    ['hourly_limit', 'Recipients in any 60 minutes; NULL: no limit.'],
    ['minute_limit', 'Recipients in any 60 seconds; NULL: no limit.'],
    ['capacity', 'Capacity of the bucket from which claims keep the rate, see pace_of_rate(); NULL: the burst.'],
    ['low_from', 'Time of day from which a project sends mail of low priority, in low_zone; NULL: at any time.'],
    ['low_until', 'Time of day until which it does, of the next day if it is before low_from; NULL: at any time.'],
    ['low_zone', 'Time zone of low_from and low_until, such as Europe/Berlin; NULL: at any time.']
]);

SELECT mailqueue.describe_columns('limit_counters', ARRAY[
    ['limit_id', 'Id of the limit.'],
    ['rev', 'Revision; rises with each change, and the newest row counts.'],
    ['day', 'Current day, in the time zone of the limit.'],
    ['sent', 'Recipients sent to on that day.'],
    ['reserved', 'Recipients claimed and not settled yet.'],
    ['bounces', 'Hard bounces of the day.'],
    ['errors', 'Failures of the day that concern the account.'],
    ['tokens', 'Recipients that the bucket of the rate still allows.'],
    ['tokens_at', 'Time at which tokens was computed.']
]);

SELECT mailqueue.describe_columns('limit_days', ARRAY[
    ['limit_id', 'Id of the limit.'],
    ['day', 'Day, in the time zone of the limit.'],
    ['sent', 'Recipients sent to on that day.'],
    ['reserved', 'Recipients that were claimed and not settled when the day ended.'],
    ['bounces', 'Hard bounces of the day.'],
    ['errors', 'Failures of the day that concern the account.']
]);

SELECT mailqueue.describe_columns('limit_windows', ARRAY[
    ['limit_id', 'Id of the limit.'],
    ['seconds', 'Length of the window in seconds: 60 or 3600.'],
    ['slot', 'Number of the slot: seconds since 1970, divided by the length of a slot.'],
    ['taken', 'Recipients reserved in the slot and not returned.']
]);

SELECT mailqueue.describe_columns('marketing_counts', ARRAY[
    ['address_hash', 'HMAC-SHA-256 of the address, by the key of the project.'],
    ['email_ids', 'Ids of the mails that count, oldest first, at most 100.'],
    ['counted_at', 'Times at which each of them was about to be sent.'],
    ['last_counted_at', 'Time of the last one.']
]);

SELECT mailqueue.describe_columns('sender_failures', ARRAY[
    ['id', 'Id of the failure.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['failed_at', 'Time of the failure.'],
    ['kind', 'Class: unreachable, transient, rate_limited, ambiguous, account, infrastructure or unrecognized.'],
    ['domain',
     'Domain of the recipient; NULL: no mail was attempted, or it is unknown whether the refusal concerns the '
     'account.'],
    ['detail', 'Text of the failure.'],
    ['sent_before', 'Recipients that the account had sent to on that day before it.'],
    ['email_id', 'Id of the email; NULL: none was attempted.'],
    ['refusal', 'Text of an unrecognized refusal, without its variable parts.']
]);

SELECT mailqueue.describe_columns('routing_rules', ARRAY[
    ['id', 'Id of the rule.'],
    ['project_id', 'Id of the project.'],
    ['position', 'Position; the first matching rule of the project applies.'],
    ['category', 'Category that matches; NULL: any.'],
    ['tag', 'Tag that matches; NULL: any, or none.'],
    ['domain', 'Recipient domain that matches, *.example.com for subdomains; NULL: any.'],
    ['accounts', 'Ids of the sender accounts, in the order in which they are tried.'],
    ['note', 'Reason, for people.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('domain_rates', ARRAY[
    ['domain', 'Recipient domain in lower case, in A-label form.'],
    ['rate_per_second', 'Recipients per second.'],
    ['burst', 'Recipients that may be sent to in one second beyond the rate; NULL: what the rate gives in one second.'],
    ['note', 'Reason, for people.'],
    ['changed_at', 'Time of the last change.']
]);

SELECT mailqueue.describe_columns('rate_signals', ARRAY[
    ['sender_account_id', 'Id of the sender account.']
]);

SELECT mailqueue.describe_columns('custom_smtp_servers', ARRAY[
    ['id', 'Id of the server.'],
    ['project_id', 'Id of the project.'],
    ['email_id', 'Id of the email.'],
    ['sealed', 'Host, port, TLS mode, user name and password, encrypted by a key in data_keys.'],
    ['expires_at', 'Time at which the row is deleted, whatever became of the email.'],
    ['created_at', 'Time at which the row was created.'],
    ['status',
     'pending, assigned, held (its mail is held until a person decides), failed (its mail fails within seconds). A '
     'row of finished mail is deleted.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['run_at', 'Earliest time of the next attempt.'],
    ['attempts', 'Attempts in a row that ended in an error of the worker; those of sending are in email_queue.'],
    ['max_attempts', 'Number of errors in a row after which the row fails.'],
    ['claim_no', 'Number of the claim that holds the row. Writes that name another number change nothing.'],
    ['worker_id', 'Id of the worker that holds the row; NULL: none.'],
    ['assigned_at', 'Time at which a worker claimed the row.'],
    ['lease_until', 'End of the lease; afterwards the row returns to its queue.'],
    ['last_error', 'Error of the last attempt.'],
    ['crashes',
     'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.'],
    ['finished_at', 'Time at which the row was finished; NULL: it is not.']
]);

SELECT mailqueue.describe_columns('routes', ARRAY[
    ['project', 'Name of the project.'],
    ['rule_id', 'Id of the rule.'],
    ['position', 'Position; the first matching rule of the project applies.'],
    ['category', 'Category that matches; NULL: any.'],
    ['tag', 'Tag that matches; NULL: any, or none.'],
    ['domain', 'Recipient domain that matches, *.example.com for subdomains; NULL: any.'],
    ['senders', 'Names of the sender accounts, in the order in which they are tried.'],
    ['note', 'Reason, for people.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('rates', ARRAY[
    ['holds_for', 'Recipient domain; all mail: the whole installation.'],
    ['rate_per_second', 'Recipients per second.'],
    ['burst', 'Recipients that may be sent to in one second beyond the rate; NULL: what the rate gives in one second.'],
    ['note', 'Reason, for people.'],
    ['used_up_until', 'Time until which the rate is used up; NULL: there is headroom.']
]);

SELECT mailqueue.describe_columns('sender_account_days', ARRAY[
    ['sender_account_id', 'Id of the sender account.'],
    ['sender', 'Name of the sender account.'],
    ['day', 'Day, in the time zone of the account.'],
    ['sent', 'Recipients sent to.'],
    ['reserved', 'Recipients claimed and not settled.'],
    ['bounces', 'Hard bounces of the day.'],
    ['errors', 'Failures of the day that concern the account.']
]);

SELECT mailqueue.describe_columns('sender_headroom', ARRAY[
    ['project', 'Name of the project.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['sender', 'Name of the sender account.'],
    ['provider', 'Provider of the account.'],
    ['status', 'active, paused or suspended.'],
    ['status_reason', 'Reason for the state.'],
    ['daily_limit', 'Recipients that may be sent to today, in warm-up too; NULL: no limit.'],
    ['daily_sent', 'Recipients sent to today.'],
    ['daily_reserved', 'Recipients claimed and not settled yet.'],
    ['daily_bounces', 'Hard bounces of today.'],
    ['daily_errors', 'Failures of today that concern the account.'],
    ['headroom', 'Recipients that may still be sent to today; NULL: no limit.'],
    ['day', 'Today, in the time zone of the account.'],
    ['last_reset_at', 'Time at which today began.'],
    ['next_reset_at', 'Time at which tomorrow begins.'],
    ['blocked_reason', 'Reason for which the account does not send now; NULL: it may.'],
    ['blocked_until', 'End of the block; NULL: not blocked, or until an operator ends it.'],
    ['warm_up_stage', 'Day of warm-up, from 1; NULL: no warm-up, or it is over.'],
    ['warm_up_stages', 'Number of days of warm-up; NULL: no warm-up.'],
    ['hourly_limit', 'Recipients in any 60 minutes; NULL: no limit.'],
    ['hourly_headroom', 'Recipients that may still be sent to in this hour; NULL: no limit.'],
    ['minute_limit', 'Recipients in any 60 seconds; NULL: no limit.'],
    ['minute_headroom', 'Recipients that may still be sent to in this minute; NULL: no limit.'],
    ['last_used_at', 'Time at which a worker last took mail for the account; NULL: never.']
]);

SELECT mailqueue.describe_columns('sender_health', ARRAY[
    ['project', 'Name of the project.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['sender', 'Name of the sender account.'],
    ['provider', 'Provider of the account.'],
    ['status', 'active, paused or suspended.'],
    ['status_reason', 'Reason for the state.'],
    ['circuit', 'closed, open or half_open.'],
    ['circuit_since', 'Time since which the circuit is in that state.'],
    ['next_probe_at', 'Time of the next probe of an open circuit.'],
    ['openings', 'Number of times in a row that the circuit opened or stayed open.'],
    ['recent_failures', 'Failures of the last five minutes.'],
    ['recent_domains', 'Recipient domains of these failures.'],
    ['recent_sent', 'Recipients sent to in the last five minutes.'],
    ['failures', 'Failures of the last hour, by class.'],
    ['last_errors', 'Texts of the last failures, newest first.'],
    ['last_failed_at', 'Time of the last failure.'],
    ['recommendation', 'What to do; NULL: nothing.']
]);

SELECT mailqueue.describe_columns('sender_rates', ARRAY[
    ['project', 'Name of the project.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['sender', 'Name of the sender account.'],
    ['status', 'active, paused or suspended.'],
    ['since', 'Time from which mail is counted.'],
    ['sent', 'Recipients sent to since then.'],
    ['hard_bounces', 'Hard bounces.'],
    ['soft_bounces', 'Soft bounces.'],
    ['about_us', 'Bounces that concern our reputation, not the recipient.'],
    ['complaints', 'Complaints.'],
    ['bounce_rate', 'Hard bounces in percent of sent mail.'],
    ['complaint_rate', 'Complaints in percent of sent mail.'],
    ['bounce_warn', 'Hard bounces in percent of sent mail at which doctor warns; 0: never.'],
    ['bounce_pause', 'Hard bounces in percent of sent mail at which the account is paused; 0: never.'],
    ['complaint_warn', 'Complaints in percent of sent mail at which doctor warns; 0: never.'],
    ['complaint_pause', 'Complaints in percent of sent mail at which the account is paused; 0: never.'],
    ['state', 'ok, warning or paused.'],
    ['found', 'Result, as a sentence.']
]);

SELECT mailqueue.describe_columns('canaries', ARRAY[
    ['id', 'Id of the row.'],
    ['project_id', 'Id of the project.'],
    ['sender_account_id', 'Sender account by which the emails are sent.'],
    ['recipient', 'Address of an operator that gets them.'],
    ['every', 'Time between two emails.'],
    ['email_ids', 'Ids of the newest 60 emails, newest first.'],
    ['set_up_at', 'Time at which it was set up, or changed last.']
]);

-- Columns of tables and views of the queue, its lanes and workers.

SELECT mailqueue.describe_columns('email_queue', ARRAY[
    ['id', 'Id of the email; returned by INSERT, not set by it.'],
    ['project_id', 'Id of the project; INSERT sets project instead.'],
    ['lane_id', 'Id of the lane.'],
    ['status', 'State: pending, assigned or held. Maintained by mailqueue.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal (default), 3 low. May be set by INSERT.'],
    ['run_at', 'Earliest time to send; default: at once. May be set by INSERT; moves with each retry.'],
    ['attempts', 'Number of attempts to send so far.'],
    ['max_attempts', 'Number of attempts after which the email fails. May be set by INSERT.'],
    ['claim_no', 'Number of the claim that holds the row. Writes that name another number change nothing.'],
    ['worker_id', 'Id of the worker that holds the row; NULL: none.'],
    ['assigned_at', 'Time at which a worker claimed the row.'],
    ['lease_until', 'End of the lease; afterwards the row returns to its queue.'],
    ['last_error', 'Error of the last attempt, with the server''s reply.'],
    ['created_at', 'Time at which the email was accepted.'],
    ['assigned_to', 'Id of the sender account in which the email holds a place of the limits.'],
    ['account_day', 'Day on which that place is reserved, in the time zone of the account.'],
    ['project_day', 'Day on which that place is reserved, in the time zone of the project.'],
    ['recipients', 'Number of addresses that are still to be sent to.'],
    ['unknowns', 'Number of times that the outcome of an attempt was unknown.'],
    ['lost_claim_no', 'Number of a claim of a lost worker that may still report.'],
    ['is_cancelled', 'Whether the email was cancelled while assigned; checked before it is sent.'],
    ['is_ordered', 'Whether the email goes in the order of its key; NULL: it does not.'],
    ['delivery', 'If the outcome of an attempt is unknown: resend once, or hold for a person. May be set by INSERT.'],
    ['category', 'Category, such as transactional or marketing. May be set by INSERT.'],
    ['expires_at', 'Time after which the email is no longer sent; default: by its priority. May be set by INSERT.'],
    ['recipient_email', 'Recipient address. Required by INSERT.'],
    ['recipient_name', 'Display name of the recipient. May be set by INSERT.'],
    ['campaign_id', 'Campaign, by which mail can be paused and cancelled. May be set by INSERT.'],
    ['tags', 'Tags, by which mail can be found and routed. May be set by INSERT.'],
    ['custom_data', 'JSON object of the producer, stored with the email and sent in webhooks. May be set by INSERT.'],
    ['idempotency_key', 'A second email of the project with the same key is not queued. May be set by INSERT.'],
    ['content_id', 'Id of the content in email_contents.'],
    ['content_on', 'Partition key of the content in email_contents.'],
    ['project', 'Name of the project; default: default. For INSERT; NULL in stored rows.'],
    ['sender', 'Name of the sender account to use; default: by routing. For INSERT; NULL in stored rows.'],
    ['subject', 'Subject. For INSERT, required unless a template has one; stored in email_contents.'],
    ['html_body', 'HTML body. For INSERT; stored in email_contents.'],
    ['text_body', 'Plain text body. For INSERT; stored in email_contents.'],
    ['from_email',
     'Address in the From header; default: that of the account or project. For INSERT; stored in email_contents.'],
    ['from_name', 'Display name in the From header. For INSERT; stored in email_contents.'],
    ['reply_to', 'Address in the Reply-To header. For INSERT; stored in email_contents.'],
    ['headers', 'Further header fields, a JSON object of name to value. For INSERT; stored in email_contents.'],
    ['also_to', 'Further addresses in the To header. For INSERT; stored in email_recipients.'],
    ['cc', 'Addresses in the Cc header. For INSERT; stored in email_recipients.'],
    ['bcc', 'Blind copies. For INSERT; stored in email_recipients.'],
    ['tracking_token', 'Name of your own for the mail. For INSERT; kept in custom_data under this key.'],
    ['max_retries', 'Attempts after the first. For INSERT; max_attempts is one more.'],
    ['next_retry_at', 'The same as run_at; the later of both holds. For INSERT.'],
    ['attachments',
     'JSON array of files: filename, content_type, content in base64. For INSERT; stored in attachments.'],
    ['template', 'Template: slug, or slug@version. For INSERT.'],
    ['template_version_id', 'Id of the template version, set from template.'],
    ['language', 'Language of the template. For INSERT.'],
    ['variables', 'JSON object of template variables. For INSERT; stored in custom_data.'],
    ['track_opens', 'Whether opens are tracked; NULL: as the project has it. For INSERT.'],
    ['track_clicks', 'Whether clicks are tracked; NULL: as the project has it. For INSERT.'],
    ['unsubscribe', 'Whether the email has an unsubscribe link; NULL: marketing has one. For INSERT.'],
    ['is_test',
     'Whether a test key submitted the mail. Never changed; such mail is in lanes of the route (test), whose only '
     'accounts are traps.'],
    ['crashes',
     'Above 0: its worker died while the mail was handled, so it is handled alone; each further death then counts.']
]);

SELECT mailqueue.describe_columns('lanes', ARRAY[
    ['id', 'Id of the lane.'],
    ['project_id', 'Id of the project.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['route', 'Name of the sender account that the emails name; empty: the accounts of the project in order.'],
    ['weight', 'Turns beside other lanes of the priority: 300 gets three times those of 100.'],
    ['project_limit', 'Id in limits of the project''s limit.'],
    ['account_limits', 'Ids in limits of the accounts that may send, in order of preference.'],
    ['vtime', 'Rows taken, divided by weight; the lane with the lowest has the next turn.'],
    ['due_floor', 'Time before which no due email is left.'],
    ['probed_at', 'Time at which emails due before due_floor were last looked for.'],
    ['blocked_until', 'End of the block; NULL: the lane is ready.'],
    ['blocked_reason', 'Reason of the block, such as daily_limit or paused; NULL: the lane is ready.'],
    ['home_route',
     'Route that the mail came from, if the lane holds mail of a paused campaign or domain, or mail to a domain '
     'with a rate.'],
    ['pause_kind', 'campaign or domain: what is paused, if the lane holds paused mail.'],
    ['pause_value', 'Paused campaign or domain.'],
    ['domain_limit', 'Id in limits of the domain whose rate holds for the whole lane; NULL: none.'],
    ['rule_id',
     'Routing rule of the lane''s mail; once the rule is removed, its mail uses the accounts of mail without a '
     'rule.'],
    ['has_rules', 'Whether routing rules of the project apply to the lane.']
]);

SELECT mailqueue.describe_columns('lane_classes', ARRAY[
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['vclock', 'Virtual time of the priority: the lowest vtime of its ready lanes.'],
    ['moved_at', 'Time at which the virtual time last moved.'],
    ['project_share', 'Share of a batch that one project may take while others wait, from 0 to 1; NULL: all.']
]);

SELECT mailqueue.describe_columns('lane_gather', ARRAY[
    ['is_only', 'Always true: the table has one row.'],
    ['signal_floor', 'Transaction id below which no signal is left or will come.']
]);

SELECT mailqueue.describe_columns('lane_signals', ARRAY[
    ['lane_id', 'Id of the lane.'],
    ['due_at', 'Time at which the earliest of the emails is due.'],
    ['emails', 'Emails that were accepted; 0: mail only came back to the lane.'],
    ['accepted_on', 'Day of acceptance (UTC).'],
    ['xid', 'Id of the transaction that wrote the signal.'],
    ['bytes', 'Size of the accepted content in bytes.']
]);

SELECT mailqueue.describe_columns('send_intents', ARRAY[
    ['worker_id', 'Id of the worker.'],
    ['email_ids', 'Ids of the emails.'],
    ['claim_nos', 'Numbers of the claims, in the order of email_ids.'],
    ['marked_at', 'Time of the mark.'],
    ['rev', 'Revision; rises with each mark, and the newest row counts.']
]);

SELECT mailqueue.describe_columns('workers', ARRAY[
    ['id', 'Id of the worker; never used again.'],
    ['kind', 'send, custom-smtp-mail (of one mail with a custom SMTP server), or names of queues joined by +.'],
    ['host', 'Host name.'],
    ['pid', 'Process id on its host.'],
    ['version', 'Version of mailqueue.'],
    ['launch_id', 'Id of one start of one process.'],
    ['started_at', 'Time at which the worker registered.'],
    ['beat_at', 'Time of the last heartbeat.'],
    ['is_stopping', 'Whether the worker finishes its work and stops.'],
    ['stopped_at', 'Time at which it stopped; NULL: it runs, or was lost.'],
    ['lost_at', 'Time at which it was declared lost; it may write nothing more.'],
    ['queues', 'Queues of the kernel that this process works on; mail itself is not among them.'],
    ['drained_at', 'Since when the worker claims nothing more; NULL: it is not drained.'],
    ['drained_by', 'Actor who drained it.']
]);

SELECT mailqueue.describe_columns('waiters', ARRAY[
    ['worker_id', 'Id of the waiting worker.'],
    ['queue', 'Queue that the worker waits for.'],
    ['parked_at', 'Time since which it waits.']
]);

SELECT mailqueue.describe_columns('leases', ARRAY[
    ['name', 'Name of the work.'],
    ['token', 'Random id of the lease; a holder with another token has lost it.'],
    ['holder', 'Host and process of the holder.'],
    ['pid', 'Process id of the holder''s database session.'],
    ['backend_started', 'Start of the holder''s database session.'],
    ['taken_at', 'Time at which the lease was taken.'],
    ['renewed_at', 'Time of the last renewal.'],
    ['lease_until', 'End of the lease unless it is renewed.']
]);

SELECT mailqueue.describe_columns('lock_rows', ARRAY[
    ['name', 'Name of the lock.']
]);

SELECT mailqueue.describe_columns('queue_depth', ARRAY[
    ['project', 'Name of the project.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['route', 'Name of the sender account that the emails name; empty: the accounts of the project in order.'],
    ['pending', 'Pending emails, due or not.'],
    ['due', 'Pending emails that are due.'],
    ['assigned', 'Emails that workers hold.'],
    ['held', 'Emails that wait for a person.'],
    ['oldest_due_at', 'Time since which the oldest due email waits.'],
    ['blocked_reason', 'Reason of the block; NULL: not blocked.'],
    ['blocked_until', 'End of the block; NULL: not blocked, or until an operator ends it.'],
    ['lane_id', 'Id of the lane.'],
    ['kept_apart', 'Paused campaign or domain, domain with a rate, or account whose mail the lane keeps apart.']
]);

SELECT mailqueue.describe_columns('queue_blocked', ARRAY[
    ['project', 'Name of the project.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['route', 'Name of the sender account that the emails name; empty: the accounts of the project in order.'],
    ['reason', 'Reason of the block, such as daily_limit or paused.'],
    ['until', 'End of the block; NULL: until an operator ends it.'],
    ['due', 'Emails that are due, counted up to 100,000.'],
    ['oldest_due_at', 'Time since which the oldest due row waits.'],
    ['lane_id', 'Id of the lane.']
]);

SELECT mailqueue.describe_columns('worker_status', ARRAY[
    ['id', 'Id of the worker.'],
    ['kind', 'send, custom-smtp-mail (of one mail with a custom SMTP server), or names of queues joined by +.'],
    ['host', 'Host name.'],
    ['pid', 'Process id on its host.'],
    ['version', 'Version of mailqueue.'],
    ['status', 'running, draining (it claims nothing more), silent (no heartbeat for 30 seconds), stopping, stopped or '
               'lost.'],
    ['started_at', 'Time at which the worker registered.'],
    ['beat_at', 'Time of the last heartbeat.'],
    ['silence', 'Time since the last heartbeat.'],
    ['assigned', 'Emails that the worker holds.'],
    ['is_parked', 'Whether it waits for a NOTIFY.'],
    ['ended_at', 'Time at which it stopped or was lost; NULL: it runs.'],
    ['queues', 'Queues that the process works on; send: mail.'],
    ['assigned_rows', 'Rows that the worker holds of queues besides mail.']
]);

SELECT mailqueue.describe_columns('throughput', ARRAY[
    ['minute', 'Beginning of the minute.'],
    ['project', 'Name of the project.'],
    ['sender', 'Name of the sender account.'],
    ['sent', 'Attempts that were accepted.'],
    ['deferred', 'Attempts that were refused temporarily.'],
    ['bounced', 'Attempts that were refused for good.'],
    ['failed', 'Attempts that failed for another reason.'],
    ['unknown', 'Attempts whose outcome is unknown.'],
    ['p50_ms', 'Median of the server''s response time, in milliseconds.'],
    ['p95_ms', '95th percentile of the server''s response time, in milliseconds.']
]);

SELECT mailqueue.describe_columns('daily_kpis', ARRAY[
    ['project', 'Name of the project.'],
    ['day', 'Day, in UTC.'],
    ['accepted', 'Emails that were accepted on the day, test mail included, as in all columns.'],
    ['sent', 'Emails that a server accepted on the day.'],
    ['failed', 'Emails that failed or expired on the day.'],
    ['success_rate', 'Sent among sent and failed, in percent.'],
    ['failure_rate', 'Those that failed or had more than one attempt among sent and failed, in percent.'],
    ['avg_send_seconds', 'Average time from created_at to the acceptance by a server, in seconds, of sent mail.'],
    ['retried_0', 'Emails of sent and failed that had at most one attempt.'],
    ['retried_1', 'Emails of sent and failed that were retried once.'],
    ['retried_2', 'Emails of sent and failed that were retried twice.'],
    ['retried_3_or_more', 'Emails of sent and failed that were retried three times or more.'],
    ['attempts', 'Attempts on the day that have a row in send_logs.'],
    ['bounces', 'Attempts in which a server rejected the recipient.'],
    ['bounce_rate', 'Bounces among attempts, in percent.'],
    ['avg_response_ms', 'Average of the servers'' response times, in milliseconds.'],
    ['p95_response_ms', '95th percentile of the servers'' response times, in milliseconds.']
]);

SELECT mailqueue.describe_columns('queue_kpis', ARRAY[
    ['project', 'Name of the project.'],
    ['unfinished', 'Emails in the queue: pending, assigned and held.'],
    ['due', 'Pending emails whose time has come.'],
    ['held', 'Emails that wait for a person.'],
    ['oldest_due_at', 'Time since which the oldest due email waits; NULL: none is due.'],
    ['oldest_wait', 'How long the oldest due email has waited.']
]);

SELECT mailqueue.describe_columns('table_sizes', ARRAY[
    ['table_name', 'Name of the table.'],
    ['estimated_rows', 'Number of rows as the statistics estimate it.'],
    ['table_bytes', 'Size of rows and of values stored apart, in bytes.'],
    ['index_bytes', 'Size of indexes, in bytes.'],
    ['total_bytes', 'Size of both, in bytes.']
]);

SELECT mailqueue.describe_columns('bulk_operations', ARRAY[
    ['id', 'Id of the operation. Operations of a project are carried out in the order of their ids.'],
    ['verb', 'What is done with mail that matches: hold, release, cancel, requeue or move.'],
    ['to_sender', 'Sender account of a move; NULL: any, and for other operations.'],
    ['filter', 'Conditions that mail matches, as hold_matching() takes them, but the project.'],
    ['reason', 'Reason, stored with mail that is held or cancelled.'],
    ['requested_by', 'Who began the operation.'],
    ['is_test', 'Whether only test mail, or only live mail, is changed; NULL: both.'],
    ['searched_until', 'Id of the last queued mail that the pass has searched; NULL: a pass begins.'],
    ['pass', 'Number of the pass over the queue. A further one finds mail that workers held during the last.'],
    ['pass_emails', 'Number of mails that matched in this pass, those included that others had locked.'],
    ['searched', 'Number of queued mails that were searched, in all passes and projects.'],
    ['emails', 'Number of mails that were changed.'],
    ['stop_requested_by', 'Who asked to stop the operation; NULL: no stop was requested.'],
    ['stop_requested_at', 'Time of that request.'],
    ['status', 'State in the queue: pending, assigned, done, stopped or failed.'],
    ['max_attempts', 'Number of failed attempts in a row after which the operation fails.'],
    ['created_at', 'Time of the request; mail accepted later is not changed.']
]);

SELECT mailqueue.describe_columns('service_processes', ARRAY[
    ['launch_id', 'Id of one start of one process.'],
    ['service', 'Name of the listener, such as api.'],
    ['host', 'Host of the process.'],
    ['pid', 'Process id.'],
    ['version', 'Version of mailqueue.'],
    ['is_in_up', 'Whether mailqueue up runs it, beside others in the process.'],
    ['started_at', 'Time of the first heartbeat.'],
    ['beat_at', 'Time of the last heartbeat; after 30 seconds without one it does not count as running.']
]);

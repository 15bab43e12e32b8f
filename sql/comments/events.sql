-- Columns of tables and views of events, bounces and tracking.

SELECT mailqueue.describe_columns('email_events', ARRAY[
    ['id', 'Id of the event.'],
    ['occurred_at', 'Time of the event.'],
    ['project_id', 'Id of the project.'],
    ['email_id', 'Id of the email.'],
    ['type', 'Type, such as delivered, hard_bounce, complaint, opened or clicked.'],
    ['recipient_email', 'Recipient that the event concerns; NULL: all of the email.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['detail', 'Text of the report, such as the diagnostic of a bounce.'],
    ['source', 'Origin of the report: ses, sendgrid, dsn, tracking and so on; NULL: mailqueue itself.'],
    ['code', 'Enhanced status code, or the code of the provider.'],
    ['suppresses', 'Reason for which the event suppresses the recipient; NULL: it does not.'],
    ['data', 'Further data: url, user_agent, ip, is_machine and so on.'],
    ['is_test', 'Whether a test key submitted the email; such mail reaches the trap only.']
]);

SELECT mailqueue.describe_columns('event_keys', ARRAY[
    ['key', 'First 128 bits of the SHA-256 of account, source and event id.'],
    ['recorded_on', 'Day on which the event was recorded (UTC).']
]);

SELECT mailqueue.describe_columns('inbound_endpoints', ARRAY[
    ['id', 'Id of the endpoint.'],
    ['project_id', 'Id of the project.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['provider', 'Provider, as in the URL.'],
    ['token_hash', 'SHA-256 of the token in the URL.'],
    ['sealed', 'The token and the provider''s signing secret, encrypted by a key in data_keys.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.']
]);

SELECT mailqueue.describe_columns('inbound_events', ARRAY[
    ['id', 'Id of the request.'],
    ['project_id', 'Id of the project; NULL: the request names no account.'],
    ['sender_account_id', 'Id of the sender account; NULL: the request names none.'],
    ['provider', 'Provider, such as ses or sendgrid; smtp: a bounce mail.'],
    ['dedupe_key', 'First 128 bits of the SHA-256 of the provider''s id of the request; NULL: each is another.'],
    ['headers', 'Header fields that are needed to read the request.'],
    ['query', 'Query of the request.'],
    ['body', 'Body of the request, as received; NULL once its retention is over.'],
    ['confirm_url', 'URL to fetch once, to confirm a subscription; NULL: nothing to confirm.'],
    ['received_at', 'Time at which the request was received.'],
    ['status', 'pending, assigned, processed, unmatched or failed.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['run_at', 'Earliest time of the next attempt.'],
    ['attempts', 'Number of attempts so far.'],
    ['max_attempts', 'Number of attempts after which the row fails.'],
    ['claim_no', 'Number of the claim that holds the row. Writes that name another number change nothing.'],
    ['worker_id', 'Id of the worker that holds the row; NULL: none.'],
    ['assigned_at', 'Time at which a worker claimed the row.'],
    ['lease_until', 'End of the lease; afterwards the row returns to its queue.'],
    ['last_error', 'Error of the last attempt.'],
    ['created_at', 'Time at which the row was created.'],
    ['waiting', 'Positions of its events that still match no email; NULL: not looked at yet.'],
    ['outcome', 'Number of its events by outcome.'],
    ['wait_until', 'Time after which events that match no email are given up.'],
    ['finished_at', 'Time at which the row was finished; NULL: it is not.'],
    ['crashes',
     'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.']
]);

SELECT mailqueue.describe_columns('bounce_list', ARRAY[
    ['id', 'Id of the entry.'],
    ['project_id', 'Id of the project.'],
    ['project', 'Name of the project, for INSERT; NULL in stored rows.'],
    ['email', 'Address that bounced or complained.'],
    ['bounce_type', 'hard, soft or complaint.'],
    ['bounce_reason', 'Text of the most severe bounce, the latest of these.'],
    ['bounce_code', 'Reply code or enhanced status code of the bounce.'],
    ['sender_account_id', 'Id of the sender account of the last bounced email.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['first_bounced_at', 'Time of the first bounce.'],
    ['last_bounced_at', 'Time of the last bounce.'],
    ['bounce_count', 'Number of bounces.'],
    ['soft_from', 'Soft bounces before this time no longer count: the address was allowed again.'],
    ['email_id', 'Id of the last email that bounced.']
]);

SELECT mailqueue.describe_columns('notices', ARRAY[
    ['id', 'Id of the notice.'],
    ['project_id', 'Id of the project.'],
    ['kind', 'complaint, bounce_rate, complaint_rate, domain_refusals or unsubscribed_topic.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['email_id', 'Id of the email of a complaint; NULL: the notice concerns an account.'],
    ['told', 'Text of the notice.'],
    ['noticed_at', 'Time of the notice.'],
    ['seen_at', 'Time at which it was acknowledged; NULL: it was not.'],
    ['seen_by', 'Who acknowledged it.'],
    ['due_at', 'Time after which it is told by email and to webhooks; NULL: it was, or it is not told.'],
    ['told_in', 'Id of the email that tells of it.'],
    ['told_error', 'Why that email could not be queued; it is tried again for a day.'],
    ['domain', 'Domain of recipients that a notice of kind domain_refusals is about.']
]);

SELECT mailqueue.describe_columns('notice_causes', ARRAY[
    ['project_id', 'Id of the project.'],
    ['kind', 'Kind of the notices.'],
    ['sender_account_id', 'Id of the sender account that they are about; 0: none.'],
    ['told_at', 'Time at which notices of this kind about this account were last told.']
]);

SELECT mailqueue.describe_columns('tracked_links', ARRAY[
    ['project_id', 'Id of the project.'],
    ['link', 'Keyed hash of the URL, cut to 12 bytes; links in emails contain it.'],
    ['url', 'Target of the link.'],
    ['used_on', 'Day on which an email last contained the link, approximately.']
]);

SELECT mailqueue.describe_columns('tracking_keys', ARRAY[
    ['id', 'Id of the key; random, and part of each token made with it.'],
    ['project_id', 'Id of the project.'],
    ['sealed', 'The key, 32 random bytes, encrypted by a key in data_keys.'],
    ['created_at', 'Time at which the row was created.'],
    ['retired_at', 'Time since which the key makes no tokens; those it made stay valid. NULL: in use.'],
    ['revoked_at', 'Since when tokens made with the key open nothing; NULL for never.']
]);

SELECT mailqueue.describe_columns('tracking_gaps', ARRAY[
    ['project_id', 'Id of the project.'],
    ['gap', 'What was missing: no_unsubscribe, no_public_url or no_postal_address.'],
    ['day', 'Day (UTC).'],
    ['emails', 'Emails that lacked it.'],
    ['seen_at', 'Time of the last such email.']
]);

SELECT mailqueue.describe_columns('deliveries', ARRAY[
    ['project_id', 'Id of the project.'],
    ['email_id', 'Id of the email.'],
    ['address', 'Recipient address in lower case.'],
    ['delivery', 'Furthest state of delivery: sent, deferred or delivered.'],
    ['bounced', 'hard or soft; NULL: not bounced.'],
    ['is_complaint', 'Whether the recipient complained.'],
    ['is_unsubscribed', 'Whether the recipient unsubscribed.'],
    ['delivered_at', 'Time of the delivery.'],
    ['bounced_at', 'Time of the bounce.'],
    ['complained_at', 'Time of the complaint.'],
    ['unsubscribed_at', 'Time at which the recipient unsubscribed.'],
    ['opened_at', 'Time of the first open by a person.'],
    ['clicked_at', 'Time of the first click by a person.'],
    ['opens', 'Opens by people.'],
    ['clicks', 'Clicks by people.'],
    ['last_event_at', 'Time of the last event.']
]);

SELECT mailqueue.describe_columns('recipient_history', ARRAY[
    ['project', 'Name of the project.'],
    ['address', 'Recipient address in lower case.'],
    ['email_id', 'Id of the email.'],
    ['status', 'State of the email.'],
    ['reason', 'Reason for the state; NULL: none, or sent.'],
    ['subject', 'Subject of the email.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['created_at', 'Time at which the email was accepted.'],
    ['finished_at', 'Time at which the email was finished; NULL: it is not.'],
    ['sender', 'Name of the sender account.'],
    ['attempts', 'Number of attempts to send.'],
    ['delivery', 'Furthest state of delivery: sent, deferred or delivered.'],
    ['bounced', 'hard or soft; NULL: not bounced.'],
    ['is_complaint', 'Whether the recipient complained.'],
    ['delivered_at', 'Time of the delivery.'],
    ['bounced_at', 'Time of the bounce.'],
    ['opened_at', 'Time of the first open by a person.'],
    ['clicked_at', 'Time of the first click by a person.']
]);

SELECT mailqueue.describe_columns('open_events', ARRAY[
    ['id', 'Id of the event.'],
    ['project', 'Name of the project.'],
    ['email_id', 'Id of the email.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['recipient_email', 'Recipient address.'],
    ['opened_at', 'Time of the open.'],
    ['ip_address', 'Network of the client; the host part is removed.'],
    ['user_agent', 'User agent, as the client sent it.'],
    ['country', 'Country of the network, as a two-letter code; NULL: unknown.'],
    ['city', 'City of the network; NULL: unknown.'],
    ['is_machine', 'Whether a scanner or crawler caused it, not a person.'],
    ['source', 'Origin of the report: tracking, or a provider.'],
    ['proxy', 'gmail or yahoo: opened by a person through the proxy of the mailbox provider; NULL: directly.']
]);

SELECT mailqueue.describe_columns('click_events', ARRAY[
    ['id', 'Id of the event.'],
    ['project', 'Name of the project.'],
    ['email_id', 'Id of the email.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['recipient_email', 'Recipient address.'],
    ['link_url', 'Target of the link.'],
    ['clicked_at', 'Time of the click.'],
    ['ip_address', 'Network of the client; the host part is removed.'],
    ['user_agent', 'User agent, as the client sent it.'],
    ['country', 'Country of the network, as a two-letter code; NULL: unknown.'],
    ['city', 'City of the network; NULL: unknown.'],
    ['is_machine', 'Whether a scanner or crawler caused it, not a person.'],
    ['source', 'Origin of the report: tracking, or a provider.']
]);

-- Columns of tables and views of webhooks.

SELECT mailqueue.describe_columns('webhooks', ARRAY[
    ['id', 'Id of the webhook.'],
    ['project_id', 'Id of the project.'],
    ['url', 'URL of the endpoint.'],
    ['description', 'Description, for people.'],
    ['event_types', 'Types of events that it receives; empty: all.'],
    ['is_enabled', 'Whether events are delivered.'],
    ['disabled_at', 'Time at which it was disabled; NULL: enabled.'],
    ['disabled_reason',
     'operator: disabled by an operator; gone: the endpoint answered 410; failing: it failed for as long as the '
     'setting webhook_give_up; removed.'],
    ['sealed_secret', 'Signing secret, encrypted by a key in data_keys.'],
    ['sealed_secret_previous', 'Previous signing secret, which signs too until previous_until.'],
    ['previous_until', 'Time until which the previous secret signs.'],
    ['format', 'Format of the requests: mailqueue, or the provider whose webhooks they are like.'],
    ['public_key', 'Public key that verifies the requests; NULL: they are not signed by a key pair.'],
    ['revision', 'Number of changes, by which workers notice that what they hold is old.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.'],
    ['removed_at', 'Time of removal; its log is deleted in batches, then the row.'],
    ['subscribed_after', 'Number of event_stream after which it receives each type of event; *: other types.']
]);

SELECT mailqueue.describe_columns('webhook_events', ARRAY[
    ['id', 'Id of the event, sent as webhook-id.'],
    ['project_id', 'Id of the project.'],
    ['type', 'Type of the event, such as email.sent.'],
    ['email_id', 'Id of the email; NULL: a test event.'],
    ['occurred_at', 'Time of the event.'],
    ['created_at', 'Time at which the row was created.'],
    ['payload', 'Body of the request, byte for byte.'],
    ['is_test', 'Whether a test key submitted the email; such mail reaches the trap only.']
]);

SELECT mailqueue.describe_columns('webhook_deliveries', ARRAY[
    ['id', 'Id of the delivery.'],
    ['project_id', 'Id of the project.'],
    ['webhook_id', 'Id of the webhook.'],
    ['event_id', 'Id of the event in webhook_events.'],
    ['type', 'Type of the event, such as email.sent.'],
    ['status', 'pending, assigned, delivered, failed or cancelled.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['run_at', 'Earliest time of the next attempt.'],
    ['attempts', 'Number of requests so far.'],
    ['max_attempts', 'Number of requests after which the delivery fails.'],
    ['claim_no', 'Number of the claim that holds the row. Writes that name another number change nothing.'],
    ['assigned_at', 'Time at which a worker claimed the row.'],
    ['lease_until', 'End of the lease; afterwards the row returns to its queue.'],
    ['last_error', 'Error of the last attempt.'],
    ['created_at', 'Time at which the row was created.'],
    ['last_code', 'HTTP status of the last response; NULL: there was none.'],
    ['finished_at', 'Time of the outcome; NULL: it may be tried again.'],
    ['is_test', 'Whether a test key submitted the email; such mail reaches the trap only.'],
    ['worker_id', 'Id of the worker that holds the row; NULL: none.'],
    ['crashes',
     'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.']
]);

SELECT mailqueue.describe_columns('webhook_attempts', ARRAY[
    ['delivery_id', 'Id of the delivery.'],
    ['tried_at', 'Time of the request.'],
    ['project_id', 'Id of the project.'],
    ['webhook_id', 'Id of the webhook.'],
    ['attempt', 'Number of the attempt, from 1.'],
    ['status_code', 'HTTP status of the response; NULL: there was none.'],
    ['error', 'Error; NULL: delivered.'],
    ['took_ms', 'Duration of the request in milliseconds.'],
    ['request_headers', 'Header fields of the request, without signatures.'],
    ['response', 'First 4 kB of the response; NULL: there was none.'],
    ['awaits_trace', 'True: its span is not exported yet. NULL: it is, or traces are off.']
]);

SELECT mailqueue.describe_columns('webhook_status', ARRAY[
    ['id', 'Id of the webhook.'],
    ['project', 'Name of the project.'],
    ['url', 'URL of the endpoint.'],
    ['event_types', 'Types of events that it receives; empty: all.'],
    ['is_enabled', 'Whether events are delivered.'],
    ['disabled_reason', 'operator, gone, failing or removed; NULL: enabled.'],
    ['disabled_at', 'Time at which it was disabled; NULL: enabled.'],
    ['circuit', 'closed, open, half_open or resting.'],
    ['failures', 'Failed requests in a row.'],
    ['failing_since', 'Time of the first of these failures; NULL: the last request succeeded.'],
    ['blocked_until', 'Time before which nothing is delivered; NULL: not blocked.'],
    ['oldest_due_at', 'Time since which the oldest due delivery waits.'],
    ['waiting', 'Deliveries that wait; 10,000: or more.']
]);

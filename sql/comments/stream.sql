-- Columns of the stream of events and of its consumers.

SELECT mailqueue.describe_columns('event_stream', ARRAY[
    ['sequence_number', 'Place of the event in the stream; transactions may commit in another order.'],
    ['id', 'Id of the event, sent as webhook-id.'],
    ['project_id', 'Id of the project.'],
    ['type', 'Type of the event, such as email.sent.'],
    ['email_id', 'Id of the email.'],
    ['recipient', 'Recipient that the event is about; NULL: see the email.'],
    ['occurred_at', 'Time of the event.'],
    ['created_at', 'Time at which the row was created.'],
    ['facts', 'What the email itself does not say, such as the reason of a failure; NULL: nothing.'],
    ['is_test', 'Whether a test key submitted the email; such mail reaches the trap only.']
]);

SELECT mailqueue.describe_columns('consumers', ARRAY[
    ['name', 'Name of the consumer, from the registry CONSUMERS.'],
    ['types', 'Types of the events that it handles.'],
    ['is_ordered', 'Whether an event waits for open transactions that may commit an earlier one.'],
    ['takes_test', 'Whether it gets events of test mail.'],
    ['position', 'Number of event_stream up to which it has handled everything.'],
    ['handled', 'Numbers above the position that it has handled too.'],
    ['horizon', 'Number up to which nothing is committed any more once open_writers have ended.'],
    ['open_writers', 'Virtual ids of the transactions that the horizon waits for.'],
    ['handled_at', 'Last time at which it handled events.'],
    ['failures', 'Number of failed attempts since then.'],
    ['run_at', 'Time of its next attempt after one that failed.'],
    ['last_error', 'Reason of the last failed attempt; NULL: it did not fail.'],
    ['left_out', 'Number of events whose handling failed, and which were left out.'],
    ['left_out_at', 'Last time at which an event was left out.'],
    ['left_out_error', 'Reason of the last event that was left out.'],
    ['skipped', 'Number of events that it does not take: of other types, or of test mail.']
]);

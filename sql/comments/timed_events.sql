-- Columns of tables of timed events and birthdays.

SELECT mailqueue.describe_columns('timed_events', ARRAY[
    ['id', 'Id of the event; also of its webhook event.'],
    ['is_test', 'Whether it is of a test key: its mail reaches the trap alone.'],
    ['contact_id', 'Contact that it is about, with which it is removed; NULL: none.'],
    ['kind', 'Kind of the event, such as renewal; birthday: see is_birthday.'],
    ['is_birthday', 'Whether it was made from the date of birth of its contact.'],
    ['local_at', 'Time at which it is due, on the wall clock of its time zone.'],
    ['time_zone', 'Time zone of local_at; UTC for an instant.'],
    ['follows_contact', 'Whether its time zone changes with that of its contact.'],
    ['zone_release', 'Release of the zone rules by which due_at was computed.'],
    ['due_at', 'Instant at which it is due; run_at is later while it waits for a retry.'],
    ['idempotency_key', 'A second event of the project with this key is this one.'],
    ['payload', 'Variables of the template, or what the webhook receives.'],
    ['template', 'Template of its mail: slug, or slug@version; NULL: a webhook is called.'],
    ['recipient', 'Recipient of its mail; NULL: the contact.'],
    ['webhook_id', 'Webhook that is called; NULL: mail is sent.'],
    ['email_id', 'Id of its mail; NULL: none yet.'],
    ['delivery_id', 'Id of the delivery to its webhook; NULL: none yet.'],
    ['version', 'Number of the version: 1, and one more with each change, those by workers among them.'],
    ['created_by', 'Who added it; birthdays: it was made by the birthday rule.']
]);

SELECT mailqueue.describe_columns('birthday_rules', ARRAY[
    ['local_time', 'Time of the day such as 09:00, in the time zone of each contact or else of the project.'],
    ['leap_day', 'Birthday of those born on 29 February in other years: february_28 or march_1.'],
    ['template', 'Template of the mail: slug, or slug@version; NULL: a webhook is called.'],
    ['webhook_id', 'Webhook that is called; NULL: mail is sent.'],
    ['payload', 'Variables of the template, or what the webhook receives.'],
    ['is_enabled', 'Whether birthdays are made and delivered.'],
    ['version', 'Number of the version: 1, and one more with each change.'],
    ['planned_for', 'Version and project time zone for which all contacts are planned; NULL: none.'],
    ['planning_for', 'Version and project time zone of the pass over contacts that is under way, or was last.'],
    ['planned_after', 'Id of the last contact of that pass; NULL: it has not begun.'],
    ['created_by', 'Who set the rule first.']
]);

SELECT mailqueue.describe_columns('birthday_replans', ARRAY[
    ['contact_id', 'Id of the contact.']
]);

SELECT mailqueue.describe_columns('timed_event_status', ARRAY[
    ['id', 'Id of the event.'],
    ['user_id', 'Id of its contact; NULL: none.'],
    ['event_type', 'Kind of the event in capitals, such as BIRTHDAY.'],
    ['status', 'PENDING, PROCESSING, COMPLETED or FAILED; a cancelled one is FAILED.'],
    ['target_timestamp_utc', 'Instant at which it is due.'],
    ['target_timestamp_local', 'The same on the wall clock of its time zone.'],
    ['target_timezone', 'Time zone of the wall clock.'],
    ['executed_at', 'Time at which its mail was queued or its webhook accepted the call; NULL: not yet.'],
    ['failure_reason', 'Why it failed, or its last attempt did; NULL: it did not.'],
    ['retry_count', 'Number of retries: 0 to 3.'],
    ['version', 'Number of the version: 1, and one more with each change.'],
    ['idempotency_key', 'A second event of the project with this key is this one.'],
    ['delivery_payload', 'Variables of the template, or what the webhook receives.'],
    ['created_at', 'Time at which the event was added.'],
    ['updated_at', 'Time of the last change.'],
    ['project_id', 'Id of the project.'],
    ['project', 'Name of the project.'],
    ['kind', 'Kind of the event.'],
    ['queue_status', 'State in the queue: pending, assigned, delivering, completed, failed or cancelled.'],
    ['template', 'Template of its mail; NULL: a webhook is called.'],
    ['recipient', 'Recipient of its mail; NULL: the contact.'],
    ['webhook_id', 'Webhook that is called; NULL: mail is sent.'],
    ['email_id', 'Id of its mail; NULL: none yet.'],
    ['delivery_id', 'Id of the delivery to its webhook; NULL: none yet.'],
    ['is_test', 'Whether it is of a test key.'],
    ['is_birthday', 'Whether it was made from the date of birth of its contact.']
]);

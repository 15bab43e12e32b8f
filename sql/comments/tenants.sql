-- Columns of tables and views of projects, keys and settings.

SELECT mailqueue.describe_columns('projects', ARRAY[
    ['id', 'Id of the project.'],
    ['name', 'Name of the project, unique; API keys, commands and producers use it.'],
    ['status', 'active, paused or suspended; a deleted project has deleted_at.'],
    ['status_reason', 'Reason of a pause or suspension.'],
    ['from_email', 'Default From address; NULL: that of the sender account.'],
    ['from_name', 'Default display name in the From header.'],
    ['reply_to', 'Default Reply-To address.'],
    ['daily_limit', 'Recipients per day; NULL: no limit.'],
    ['rate_per_second', 'Recipients per second; NULL: no limit.'],
    ['burst', 'Recipients that may be sent to in one second beyond the rate; NULL: what the rate gives in one second.'],
    ['time_zone', 'Time zone in which the day begins at midnight, such as Europe/Berlin.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.'],
    ['status_until', 'End of a pause; NULL: until it is resumed.'],
    ['paused_by', 'Actor of the pause; NULL: not paused.'],
    ['paused_at', 'Time of the pause; NULL: not paused.'],
    ['weight', 'Turns beside other projects: 300 gets three times those of 100.'],
    ['is_dkim_required',
     'Whether mail waits while no active DKIM key signs for its From domain, instead of being sent unsigned.'],
    ['attachment_bytes', 'Maximum size of all files of one email together, in bytes.'],
    ['attachment_types', 'Media types that files may have; the setting attachment_types_most limits them further.'],
    ['bounce_address', 'Envelope sender; NULL: the From address.'],
    ['allowed_from', 'Addresses, domains and *.domains that emails may name as From; NULL: any.'],
    ['requests_per_second', 'Requests per second of all its keys together; NULL: only each key is limited.'],
    ['display_name', 'Name for people; NULL: name.'],
    ['description', 'Description, for people.'],
    ['postal_address', 'Postal address for the footer of marketing mail; NULL: none.'],
    ['delivery', 'Default of emails whose outcome is unknown: resend or hold; NULL: by category.'],
    ['suspended_at', 'Time of the suspension; NULL: not suspended.'],
    ['deleted_at',
     'Time of deletion: the project accepts and sends no mail and has no valid keys. Its name stays taken, because '
     'its records refer to it.'],
    ['soft_bounce_limit', 'Soft bounces of an address within soft_bounce_days that suppress it; 0: never.'],
    ['soft_bounce_days', 'Days within which soft bounces are counted.'],
    ['bounce_domain',
     'Domain whose mail reaches the bounce listener: mail sent by SMTP has a signed return path of its own there.'],
    ['track_opens', 'Default of open tracking: the mail contains a tracking pixel.'],
    ['track_clicks', 'Default of click tracking: links are replaced by tracked ones.'],
    ['tracking_domain', 'Domain of links in emails; NULL: the address of the installation.'],
    ['tracking_checked_at',
     'Time at which the tracking domain was last found to lead here; NULL: not yet, links do not use it.'],
    ['brand_color', 'Colour of its public pages, such as #336699; NULL: the default.'],
    ['logo', 'Picture of templates at the top of its public pages; NULL: none.'],
    ['page_texts', 'Own texts of its public pages, by language and name; NULL: the built-in ones.'],
    ['resend_elsewhere',
     'Whether mail with an unknown outcome may be sent again by another sender account; otherwise only by the same '
     'one.'],
    ['max_queued_emails', 'Maximum of emails that wait or are being sent; NULL: no bound.'],
    ['max_stored_bytes', 'Maximum of stored subjects, bodies and files, in bytes; NULL: no bound.'],
    ['max_uploads', 'Maximum of uploaded files; NULL: no bound.'],
    ['max_templates', 'Maximum of templates; NULL: no bound.'],
    ['max_events', 'Maximum of events of emails; NULL: no bound.'],
    ['max_contacts', 'Maximum of contacts; NULL: no bound.'],
    ['max_age_hours_critical',
     'Hours after run_at at which critical mail expires that names no time; 1 in a new project; NULL: 96.'],
    ['max_age_hours_high',
     'Hours after run_at at which mail of high priority expires that names no time; 4 in a new project; NULL: 96.'],
    ['max_age_hours_normal',
     'Hours after run_at at which mail of normal priority expires that names no time; 24 in a new project; NULL: 96.'],
    ['max_age_hours_low',
     'Hours after run_at at which mail of low priority expires that names no time; 72 in a new project; NULL: 96.'],
    ['require_postal_address',
     'Whether mail of category marketing is rejected while the project has no postal_address.'],
    ['unsubscribe_on_all',
     'Whether mail of every category has an unsubscribe link that does not say otherwise, and not only marketing.'],
    ['low_priority_window',
     'Time of day at which mail of low priority is sent, such as 22:00-06:00 Europe/Berlin, or 22:00-06:00 in '
     'time_zone; NULL: at any time.'],
    ['quiet_hours',
     'Hours of the day, such as 21:00-08:00, at which no mail of category marketing is sent, in the time zone of its '
     'recipient, else in time_zone; NULL: none.'],
    ['frequency_cap',
     'Mails of category marketing that each recipient gets in a number of days, such as 3/7d; more are sent later; '
     'NULL: any number.'],
    ['outbox_duplicates', 'Second INSERT of an id into view outboxes: error raises SQLSTATE 23505, skip gives no row.'],
    ['ordering',
     'What mail has in common that goes in the order in which it was inserted: project, outboxes or custom_data.NAME; '
     'NULL: no order.'],
    ['ordering_on_failure', 'When ordered mail fails or expires: continue with the next one, or block.'],
    ['has_event_outboxes', 'Whether an outbox of the project publishes events of mail.'],
    ['management_events',
     'By which ways events may archive and resend mail: sql, api and rabbitmq, separated by commas; NULL: none.'],
    ['notices_to', 'Address to which notices for administrators are mailed; NULL: none.']
]);

SELECT mailqueue.describe_columns('api_keys', ARRAY[
    ['id', 'Id of the key.'],
    ['project_id', 'Id of the project.'],
    ['name', 'Name of the key, unique among the valid keys of its project.'],
    ['key_hash', 'SHA-256 of the whole key; the key itself is shown once.'],
    ['hint', 'First characters of the secret, to recognise it by.'],
    ['is_test', 'Whether emails of the key reach the trap only.'],
    ['created_at', 'Time at which the row was created.'],
    ['expires_at', 'Time at which the key ends; NULL: never.'],
    ['revoked_at', 'Time at which the key was revoked; NULL: it is valid.'],
    ['last_used_at', 'Time of the last request; NULL: never used.'],
    ['scopes', 'What the key may do, such as email:send.'],
    ['requests_per_second', 'Requests per second; NULL: the setting requests_per_key.'],
    ['created_by', 'Author: API key, administrator or operating system user.'],
    ['last_used_from', 'Address of the client of the last request; NULL: unknown.'],
    ['rotated_at', 'Time at which another key took over the name; until expires_at both are valid.'],
    ['revoked_reason', 'Reason for which the key was revoked; NULL: none was given.'],
    ['revoked_by', 'Who revoked the key; NULL: it is valid, it expired, or nobody recorded it.']
]);

SELECT mailqueue.describe_columns('administrators', ARRAY[
    ['id', 'Id of the administrator.'],
    ['name', 'Name of the administrator; unique, and never used again.'],
    ['token_hash', 'SHA-256 of the whole token; the token itself is shown once.'],
    ['hint', 'First characters of the secret, to recognise it by.'],
    ['created_by', 'Author: API key, administrator or operating system user.'],
    ['created_at', 'Time at which the row was created.'],
    ['expires_at', 'Time at which the token ends; NULL: never.'],
    ['revoked_at', 'Time at which the token was revoked; NULL: it is valid.'],
    ['last_used_at', 'Time of the last request; NULL: never used.']
]);

SELECT mailqueue.describe_columns('producer_projects', ARRAY[
    ['login', 'Name of the PostgreSQL role, as session_user returns it.'],
    ['project_id', 'Id of the project.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('project_usage', ARRAY[
    ['project_id', 'Id of the project.'],
    ['queued_emails', 'Emails that wait or are being sent.'],
    ['stored_bytes', 'Subjects, bodies and files, in bytes.'],
    ['uploads', 'Uploaded files.'],
    ['events', 'Events of emails.'],
    ['contacts', 'Contacts.']
]);

SELECT mailqueue.describe_columns('project_usage_changes', ARRAY[
    ['project_id', 'Id of the project.'],
    ['queued_emails', 'Change of the number of emails that wait or are being sent.'],
    ['stored_bytes', 'Change of the stored subjects, bodies and files, in bytes.'],
    ['uploads', 'Change of the number of uploaded files.'],
    ['events', 'Change of the number of events of emails.'],
    ['contacts', 'Change of the number of contacts.']
]);

SELECT mailqueue.describe_columns('usage_carries', ARRAY[
    ['project_id', 'Id of the project.'],
    ['first_xid', 'Transaction id of the first signal at that time; the sums hold while it exists.'],
    ['first_place', 'Place of the first signal in its table at that time: its page times 65536, and its row there.'],
    ['until_xid', 'Signals of transactions below it are in the sums.'],
    ['emails', 'Sum of accepted emails.'],
    ['bytes', 'Sum of accepted content, in bytes.']
]);

SELECT mailqueue.describe_columns('usage_counts', ARRAY[
    ['is_only', 'Always true: the table has one row.'],
    ['counted_at', 'Time at which every signal and change was last added.'],
    ['recounted_at', 'Time at which usage was last compared with the tables; NULL: never.']
]);

SELECT mailqueue.describe_columns('request_buckets', ARRAY[
    ['id', 'Id of the API key or project.'],
    ['tokens', 'Requests that may still be made at once.'],
    ['granted', 'Requests that the last lease took.'],
    ['filled_at', 'Time at which tokens was computed.'],
    ['slots', 'Beginnings of the slots of the last window, in seconds since 1970; a slot is a twentieth of it.'],
    ['counts', 'Requests that were leased in each slot and not returned.']
]);

SELECT mailqueue.describe_columns('idempotent_answers', ARRAY[
    ['project_id', 'Id of the project; all zeros: a request of an administrator.'],
    ['key', 'Value of the header Idempotency-Key.'],
    ['fingerprint', 'SHA-256 of method, path, query and body.'],
    ['status', 'HTTP status of the response; NULL: the outcome is unknown, or not there yet.'],
    ['content_type', 'Media type of the response.'],
    ['body', 'Body of the response, without secrets that are shown once.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('pauses', ARRAY[
    ['project_id', 'Id of the project.'],
    ['kind', 'campaign or domain.'],
    ['value', 'Campaign, or domain in lower case.'],
    ['reason', 'Reason of the pause, shown by `mailqueue why`.'],
    ['until', 'End of the pause; infinity: until it is resumed.'],
    ['actor', 'Who made the change: user@host, API key, administrator or database login.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('paused', ARRAY[
    ['project', 'Name of the project.'],
    ['kind', 'project, sender, campaign or domain.'],
    ['name', 'Name of what is paused.'],
    ['reason', 'Reason of the pause; NULL: none was given.'],
    ['until', 'End of the pause; NULL: until it is resumed.'],
    ['actor', 'Who paused it; NULL: see the audit log.'],
    ['since', 'Time since which it is paused; NULL: see the audit log.']
]);

SELECT mailqueue.describe_columns('system_settings', ARRAY[
    ['name', 'Name of the setting.'],
    ['value', 'Value; may be changed by UPDATE.'],
    ['kind', 'Form of the value: interval, count, bytes, flag (on, off) or list.'],
    ['meaning', 'Meaning of the setting, with its unit.'],
    ['changed_at', 'Time of the last change.']
]);

SELECT mailqueue.describe_columns('project_rules', ARRAY[
    ['id', 'Id of the rule.'],
    ['project_id', 'Id of the project.'],
    ['kind', 'sender_signature, tag_trigger, inbound_rule, contact_property, event_definition, automation or '
             'tag_description.'],
    ['subject', 'The address, the tag, the address or domain whose bounce mail is ignored, or the attribute.'],
    ['settings', 'Name and reply address of a signature; whether opens are tracked; type, fallback of an attribute; '
                 'description of a tag.'],
    ['created_by', 'Author: API key, administrator or operating system user.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.']
]);

-- Columns of tables and views of the audit log.

SELECT mailqueue.describe_columns('audit_events', ARRAY[
    ['id', 'Id of the entry; rises with time.'],
    ['project_id', 'Id of the project; NULL: the entry concerns the whole installation.'],
    ['occurred_at', 'Time of the change.'],
    ['actor', 'Who made the change: user@host, API key, administrator or database login.'],
    ['action', 'What was done, as noun.past_verb, such as sender.changed.'],
    ['subject', 'What it was done to.'],
    ['detail', 'Details of the change, without secrets.']
]);

SELECT mailqueue.describe_columns('audit_changes', ARRAY[
    ['id', 'Id of the change.'],
    ['event_id', 'Id of the changed row of audit_events.'],
    ['reason', 'erasure, or progress: the count of an operation in batches.'],
    ['changed_at', 'Time of the change.']
]);

SELECT mailqueue.describe_columns('audit_keys', ARRAY[
    ['id', 'Id of the key.'],
    ['master_key_id', 'Id of the key that encrypts this one.'],
    ['wrapped', 'The key, encrypted by the key in master_key_id.'],
    ['made_under', 'Id of the master key under which this key was created.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('audit_seals', ARRAY[
    ['position', 'Position in the chain: 1, 2, 3 and so on, without gaps.'],
    ['kind', 'row, change or cut; see the table.'],
    ['event_id', 'Id of the sealed row of audit_events; NULL: kind cut.'],
    ['settled_id', 'Rows up to this id were sealed, and none could follow.'],
    ['sealed_at', 'Time of the seal.'],
    ['key_id', 'Id of the key in audit_keys.'],
    ['reason', 'Reason of a change; NULL: kind row.'],
    ['row_code', 'HMAC of the row; kind cut: the code that it stands for.'],
    ['skeleton', 'HMAC of the row without addresses and counts.'],
    ['addresses', 'HMACs of the addresses of the row, 8 bytes each.'],
    ['code', 'HMAC of this seal and the code of the one before.']
]);

SELECT mailqueue.describe_columns('audit', ARRAY[
    ['id', 'Id of the entry; rises with time.'],
    ['occurred_at', 'Time of the change.'],
    ['project', 'Name of the project; NULL: the entry concerns the whole installation.'],
    ['actor', 'Who made the change: user@host, API key, administrator or database login.'],
    ['action', 'What was done, as noun.past_verb, such as sender.changed.'],
    ['subject', 'What it was done to.'],
    ['detail', 'Details of the change, without secrets.']
]);

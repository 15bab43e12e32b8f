-- 0081_audit_seals.sql
-- Adds:    audit_seals, audit_keys, audit_changes; a maintenance task
-- Running workers: not affected; they add rows to audit_events as before
-- Locks:   none

CREATE TABLE mailqueue.audit_keys (
    id             uuid        NOT NULL PRIMARY KEY,
    master_key_id  text        NOT NULL,                     -- wraps this key
    wrapped        bytea       NOT NULL,
    made_under     text        NOT NULL,                     -- the master key at that time
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE mailqueue.audit_keys IS
    'Keys that seal the audit log, themselves encrypted by the master key, which is not in the database. The newest '
    'one seals; older ones verify what they sealed.';

CREATE TABLE mailqueue.audit_seals (
    position    bigint      NOT NULL PRIMARY KEY,            -- 1, 2, 3 and so on, without gaps
    kind        text        NOT NULL,
    event_id    bigint,                                      -- NULL: kind cut
    settled_id  bigint      NOT NULL,                        -- rows up to this id were sealed, and none could follow
    sealed_at   timestamptz NOT NULL,
    key_id      uuid        NOT NULL,
    reason      text,                                        -- of a change
    row_code    bytea       NOT NULL,                        -- HMAC of the row; kind cut: the code it stands for
    skeleton    bytea,                                       -- HMAC of the row without addresses and counts
    addresses   bytea,                                       -- HMACs of its addresses, 8 bytes each
    code        bytea       NOT NULL,                        -- HMAC of this seal and the code of the one before

    CONSTRAINT audit_seals_position_check CHECK (position BETWEEN 1 AND 1000000000000000),
    CONSTRAINT audit_seals_kind_check CHECK (kind IN ('row', 'change', 'cut')),
    CONSTRAINT audit_seals_event_check CHECK ((kind = 'cut') = (event_id IS NULL))
);
CREATE INDEX audit_seals_event_idx ON mailqueue.audit_seals (event_id, position);
COMMENT ON TABLE mailqueue.audit_seals IS
    'Seals of rows of audit_events, chained in the order of sealing. mailqueue verify compares them with the rows. '
    'Kind change: the row was sealed again after an erasure, or with the count of an operation in batches; kind cut: '
    'seals up to here were deleted with their rows, which were past their retention.';

CREATE TABLE mailqueue.audit_changes (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    bigint      NOT NULL,
    reason      text        NOT NULL,
    changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT audit_changes_reason_check CHECK (reason IN ('erasure', 'progress'))
);
CREATE INDEX audit_changes_event_idx ON mailqueue.audit_changes (event_id);
COMMENT ON TABLE mailqueue.audit_changes IS
    'Permitted changes of rows of audit_events that are not sealed again yet.';

INSERT INTO mailqueue.maintenance_tasks (task, every, run_at) VALUES ('audit', '1 h', now() + interval '5 min')
ON CONFLICT (task) DO NOTHING;

COMMENT ON TABLE mailqueue.audit_events IS
    'Audit log: who changed what. Rows are only added; the count of an operation in batches, erasures of persons and '
    'retention are the exceptions, and are recorded in audit_seals.';

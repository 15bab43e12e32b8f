-- 0086_server_identity.sql
-- Adds:    server_identity; workers.sends_on, workers.seen_on
-- Running workers: not affected; they send as before, and do not notice that a database has gone back
-- Locks:   workers for a moment: no row is read or written

CREATE TABLE mailqueue.server_identity (
    is_only         boolean     NOT NULL DEFAULT true PRIMARY KEY,
    installation_id uuid,
    identity        text,
    declared_at     timestamptz NOT NULL DEFAULT '-infinity',
    changed_to      text,
    changed_at      timestamptz,
    is_vouched      boolean     NOT NULL DEFAULT false,
    gone_back_at    timestamptz,
    marks           bigint      NOT NULL DEFAULT 0,

    CONSTRAINT server_identity_only_check CHECK (is_only),
    CONSTRAINT server_identity_installation_check CHECK ((installation_id IS NULL) = (identity IS NULL)),
    CONSTRAINT server_identity_changed_check CHECK ((changed_to IS NULL) = (changed_at IS NULL)),
    CONSTRAINT server_identity_marks_check CHECK (marks >= 0)
);
INSERT INTO mailqueue.server_identity DEFAULT VALUES;
COMMENT ON TABLE mailqueue.server_identity IS
    'The server that mail is sent from, and whether this database is known to continue what workers have seen; one row.';
COMMENT ON COLUMN mailqueue.server_identity.is_only IS 'Always true: there is one row.';
COMMENT ON COLUMN mailqueue.server_identity.installation_id IS
    'The installation; backups and copies of this database have the same. NULL before the first worker.';
COMMENT ON COLUMN mailqueue.server_identity.identity IS
    'System identifier, timeline, database and table that mail is sent from; NULL before the first worker. A restore, a copy and a promotion give the database another one.';
COMMENT ON COLUMN mailqueue.server_identity.declared_at IS
    'When a person last declared this database to be the one to send from; -infinity: never.';
COMMENT ON COLUMN mailqueue.server_identity.changed_to IS
    'Another identity that is seen now and from which no mail is sent yet; NULL: none.';
COMMENT ON COLUMN mailqueue.server_identity.changed_at IS 'When changed_to was first seen.';
COMMENT ON COLUMN mailqueue.server_identity.is_vouched IS
    'Whether a process that saw the earlier server has found on changed_to all that it had seen.';
COMMENT ON COLUMN mailqueue.server_identity.gone_back_at IS
    'When a process found that this database is behind what it had seen; NULL: none has.';
COMMENT ON COLUMN mailqueue.server_identity.marks IS
    'Number of commits that marked mail as about to be sent, by workers that have ended.';

ALTER TABLE mailqueue.workers
    ADD COLUMN sends_on text,
    ADD COLUMN seen_on  text;
COMMENT ON COLUMN mailqueue.workers.sends_on IS
    'The identity of the server on which this worker may claim mail; NULL: to be looked up at its next claim.';
COMMENT ON COLUMN mailqueue.workers.seen_on IS
    'The identity of the server on which this worker last found all that it had seen.';

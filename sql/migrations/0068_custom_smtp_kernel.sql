-- 0068_custom_smtp_kernel.sql
-- Adds:    the columns of a queue table to inline_servers; run_at replaces look_at
-- Running workers: not affected; they go on with functions of their own until they are restarted
-- Locks:   inline_servers for a moment, nothing is rewritten; it has a row for each unfinished mail of its kind

ALTER TABLE mailqueue.inline_servers
    ADD COLUMN status       text     NOT NULL DEFAULT 'pending',
    ADD COLUMN priority     smallint NOT NULL DEFAULT 2,
    ADD COLUMN run_at       timestamptz,                     -- NULL: a row of an earlier release, due at look_at
    ADD COLUMN attempts     smallint NOT NULL DEFAULT 0,
    ADD COLUMN max_attempts smallint NOT NULL DEFAULT 20,
    ADD COLUMN claim_no     bigint,
    ADD COLUMN worker_id    integer,
    ADD COLUMN assigned_at  timestamptz,
    ADD COLUMN lease_until  timestamptz,
    ADD COLUMN last_error   text,
    ADD COLUMN crashes      smallint NOT NULL DEFAULT 0,
    ADD COLUMN finished_at  timestamptz,
    -- squawk-ignore ban-drop-not-null
    ALTER COLUMN look_at DROP NOT NULL,
    ADD CONSTRAINT inline_servers_status_check CHECK (status IN ('pending', 'assigned', 'held', 'failed')) NOT VALID,
    ADD CONSTRAINT inline_servers_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL)) NOT VALID,
    ADD CONSTRAINT inline_servers_finished_check CHECK ((status = 'failed') = (finished_at IS NOT NULL)) NOT VALID;
UPDATE mailqueue.inline_servers SET run_at = look_at;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX inline_servers_claim_idx ON mailqueue.inline_servers (project_id, run_at, id) WHERE status = 'pending';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX inline_servers_lease_idx ON mailqueue.inline_servers (lease_until) WHERE status = 'assigned';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX inline_servers_suspect_idx ON mailqueue.inline_servers (run_at) WHERE status = 'pending' AND crashes > 0;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX inline_servers_failed_idx ON mailqueue.inline_servers (finished_at) WHERE status = 'failed';
COMMENT ON TABLE mailqueue.inline_servers IS
    'Queued mail with a custom SMTP server: the server, sealed, and when a worker sends the mail by it. Deleted when the mail is finished, at the latest when the server expires.';
COMMENT ON COLUMN mailqueue.inline_servers.status IS
    'pending, assigned, held (its mail is held until a person decides), failed (its mail fails within seconds). A row of finished mail is deleted.';
COMMENT ON COLUMN mailqueue.inline_servers.attempts IS
    'Attempts in a row that ended in an error of the worker; those of sending are in email_queue.';
COMMENT ON COLUMN mailqueue.inline_servers.crashes IS
    'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.';
COMMENT ON COLUMN mailqueue.inline_servers.look_at IS
    'Deprecated, will be dropped: the name of run_at in earlier releases. Rows of those releases have only this one.';

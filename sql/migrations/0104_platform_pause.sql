-- 0104_platform_pause.sql
-- Adds:    a pause of the whole installation, and draining of single workers
-- Running workers: go on; they claim nothing while paused or drained once the functions are re-applied
-- Locks:   server_identity and workers for a moment: no row is read or written

ALTER TABLE mailqueue.server_identity
    ADD COLUMN paused_at    timestamptz,
    ADD COLUMN paused_by    text,
    ADD COLUMN paused_until timestamptz,
    ADD COLUMN pause_reason text,
    ADD CONSTRAINT server_identity_pause_check
        CHECK (paused_at IS NOT NULL OR num_nonnulls(paused_by, paused_until, pause_reason) = 0) NOT VALID;
COMMENT ON COLUMN mailqueue.server_identity.paused_at IS
    'Since when all sending is paused; NULL: it is not.';
COMMENT ON COLUMN mailqueue.server_identity.paused_by IS 'Actor of the pause.';
COMMENT ON COLUMN mailqueue.server_identity.paused_until IS 'End of the pause; NULL: until it is resumed.';
COMMENT ON COLUMN mailqueue.server_identity.pause_reason IS 'Reason of the pause.';

ALTER TABLE mailqueue.workers
    ADD COLUMN drained_at timestamptz,
    ADD COLUMN drained_by text;

-- 0079_tracking_key_revoked.sql
-- Adds:    tracking_keys.revoked_at
-- Running workers: not affected; they accept tokens of revoked keys until they are restarted
-- Locks:   tracking_keys for a moment: few rows, which are read once

ALTER TABLE mailqueue.tracking_keys
    ADD COLUMN revoked_at timestamptz,
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT tracking_keys_revoked_check CHECK (revoked_at IS NULL OR retired_at IS NOT NULL);
COMMENT ON COLUMN mailqueue.tracking_keys.revoked_at IS
    'Since when tokens made with the key open nothing; NULL for never.';

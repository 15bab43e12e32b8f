-- 0078_request_windows.sql
-- Adds:    slots of request_buckets: request rates hold in every window, not only in windows that begin with a full bucket
-- Running workers: go on; API processes of the release before share the rows and count as they did
-- Locks:   request_buckets for a moment

ALTER TABLE mailqueue.request_buckets
    ADD COLUMN slots  double precision[],                    -- beginnings of slots, in seconds since 1970; NULL: none kept
    ADD COLUMN counts double precision[];                    -- requests leased in each
COMMENT ON COLUMN mailqueue.request_buckets.slots IS
    'Beginnings of the slots of the last window, in seconds since 1970; a slot is a twentieth of it.';
COMMENT ON COLUMN mailqueue.request_buckets.counts IS 'Requests that were leased in each slot and not returned.';

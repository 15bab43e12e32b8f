-- 0107_attempt_custom_data.sql
-- Adds:    the custom data of the mail to attempts, and an index of it
-- Running workers: go on; those of the version before leave it out
-- Locks:   send_logs against writing while the index is built: as long as it takes to read it

ALTER TABLE mailqueue.send_logs ADD COLUMN custom_data jsonb;

-- Months that are on their way out can be attached again only while they are like the others.
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid FROM pg_catalog.pg_class AS c
         WHERE c.relnamespace = 'mailqueue'::regnamespace AND NOT c.relispartition
           AND c.relkind = 'r' AND c.relname ~ '^send_logs_[0-9]{4}_[0-9]{2}$'
    LOOP
        -- 0103 has added conversation to the other months.
        EXECUTE format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS conversation jsonb, ADD COLUMN custom_data jsonb',
                       v_table);
    END LOOP;
END $$;

-- Concurrent builds are not possible on partitioned tables.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX send_logs_custom_data_idx ON mailqueue.send_logs USING gin (custom_data jsonb_path_ops)
    WITH (gin_pending_list_limit = 256)
    WHERE custom_data IS NOT NULL;

-- 0025_stored_files.sql
-- Adds:    indexes by which files in folders and buckets, and contents that use a file, are found
-- Running workers: not affected
-- Locks:   attachments and email_contents against writing while the indexes are built: as long as it takes to read all contents

-- Concurrent builds are not possible on partitioned tables.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX attachments_location_idx ON mailqueue.attachments (location) WHERE location IS NOT NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_contents_files_idx ON mailqueue.email_contents USING gin (files jsonb_path_ops) WHERE files IS NOT NULL;

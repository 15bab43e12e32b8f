-- 0054_modes_listed.sql
-- Adds:    the order in which a project's test mail is listed
-- Running workers: not affected
-- Locks:   email_history against writing while the index is built: as long as it takes to read it

-- A project may have millions of live mails and three of test. Concurrent builds are not possible on partitioned tables.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_history_test_idx ON mailqueue.email_history (project_id, id) WHERE is_test;

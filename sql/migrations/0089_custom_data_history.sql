-- 0089_custom_data_history.sql
-- Adds:    an index of finished mail by its custom_data
-- Running workers: not affected
-- Locks:   email_history against writing while the index is built: as long as it takes to read it

-- What searched_data() and is_searched() say, in built-in functions: who inserts needs no right to call ours.
-- Concurrent builds are not possible on partitioned tables.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_history_custom_data_idx ON mailqueue.email_history
    USING gin (jsonb_set(jsonb_path_query_first(custom_data, 'strict $ ? (@.type() == "object")') - 'variables',
                         '{$project}', ('"' || project_id::text || '"')::jsonb) jsonb_path_ops)
    WITH (gin_pending_list_limit = 256)
    WHERE custom_data IS NOT NULL
      AND length((jsonb_path_query_first(custom_data, 'strict $ ? (@.type() == "object")') - 'variables')::text)
          BETWEEN 3 AND 2000;

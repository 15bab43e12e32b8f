-- no-transaction
-- 0090_custom_data_queue.sql
-- Adds:    an index of queued mail by its custom_data
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS email_queue_custom_data_idx ON mailqueue.email_queue
    USING gin (jsonb_set(jsonb_path_query_first(custom_data, 'strict $ ? (@.type() == "object")') - 'variables',
                         '{$project}', ('"' || project_id::text || '"')::jsonb) jsonb_path_ops)
    WITH (gin_pending_list_limit = 256)
    WHERE custom_data IS NOT NULL
      AND length((jsonb_path_query_first(custom_data, 'strict $ ? (@.type() == "object")') - 'variables')::text)
          BETWEEN 3 AND 2000;

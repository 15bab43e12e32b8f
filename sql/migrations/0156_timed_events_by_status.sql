-- no-transaction
-- 0156_timed_events_by_status.sql
-- Adds:    an index of timed events by the status that lists show, as view timed_event_status computes it
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS timed_events_status_idx ON mailqueue.timed_events (project_id,
    (CASE status WHEN 'pending' THEN 'PENDING' WHEN 'completed' THEN 'COMPLETED' WHEN 'assigned' THEN 'PROCESSING'
                 WHEN 'delivering' THEN 'PROCESSING' ELSE 'FAILED' END), id);

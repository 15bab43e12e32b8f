-- no-transaction
-- 0028_audit_by_project.sql
-- Adds:    an index for the audit of one project
-- Running workers: not affected
-- Locks:   none

CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_events_project_idx ON mailqueue.audit_events (project_id, id);

-- 1070_cancelled_imports.sql
-- Adds:    imports.cancelled_at: imports end when they are cancelled
-- Running workers: of the release before fail a cancelled import, whose file is gone
-- Locks:   imports for a moment

ALTER TABLE mailqueue.imports ADD COLUMN cancelled_at timestamptz;

-- 0055_resend_elsewhere.sql
-- Adds:    whether a project sends mail of unknown fate again by another of its accounts
-- Running workers: go on
-- Locks:   projects for a moment: no row is read or written again

ALTER TABLE mailqueue.projects ADD COLUMN resend_elsewhere boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN mailqueue.projects.resend_elsewhere IS
    'Mail that was handed over without an answer may be sent again by another sender account; else it stays with the one that has it.';

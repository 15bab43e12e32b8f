-- 1080_step_records.sql
-- Changes: do_step() returns the record of a step and its mail, which its caller writes
-- Running workers: call advance_enrollments(), which is replaced in the same transaction
-- Locks:   none

-- squawk-ignore ban-drop-function
DROP FUNCTION IF EXISTS mailqueue.do_step(mailqueue.sequence_enrollments, mailqueue.sequences,
    mailqueue.sequence_versions, mailqueue.contacts, jsonb, text, timestamptz);

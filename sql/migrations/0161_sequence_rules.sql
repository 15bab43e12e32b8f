-- 0161_sequence_rules.sql
-- Adds:    event rules that enroll contacts in sequences, end enrollments or record an event for them
-- Running workers: not affected
-- Locks:   event_rules and inbox_actions for a moment: no row is read or written

ALTER TABLE mailqueue.event_rules
    ADD COLUMN sequence text,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT event_rules_action_check,
    ADD CONSTRAINT event_rules_action_check CHECK (
        action IN ('mail', 'cancel', 'enroll', 'leave', 'record')) NOT VALID,
    ADD CONSTRAINT event_rules_sequence_check CHECK (
        action NOT IN ('enroll', 'leave', 'record') OR recipient IS NOT NULL) NOT VALID;

ALTER TABLE mailqueue.inbox_actions
    ADD COLUMN enrollment_ids uuid[] NOT NULL DEFAULT '{}',
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT inbox_actions_result_check,
    ADD CONSTRAINT inbox_actions_result_check CHECK (
        result IN ('mail', 'cancelled', 'failed', 'enrolled', 'left', 'recorded')) NOT VALID;

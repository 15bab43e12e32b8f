-- 1060_events_and_automations.sql
-- Adds:    two kinds of project_rules: events that Resend's clients defined, and automations that they start
-- Running workers: not affected
-- Locks:   project_rules for a moment, nothing is rewritten

ALTER TABLE mailqueue.project_rules
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT project_rules_kind_check,
    ADD CONSTRAINT project_rules_kind_check
        CHECK (kind IN ('sender_signature', 'tag_trigger', 'inbound_rule', 'contact_property', 'event_definition',
                        'automation')) NOT VALID;

-- 1031_contact_properties.sql
-- Adds:    a kind of project_rules: attributes of contacts that Resend's clients named
-- Running workers: not affected
-- Locks:   project_rules for a moment, nothing is rewritten

ALTER TABLE mailqueue.project_rules
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT project_rules_kind_check,
    ADD CONSTRAINT project_rules_kind_check
        CHECK (kind IN ('sender_signature', 'tag_trigger', 'inbound_rule', 'contact_property')) NOT VALID;

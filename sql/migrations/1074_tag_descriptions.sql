-- 1074_tag_descriptions.sql
-- Adds:    a kind of project_rules: descriptions of tags, which Mailgun's clients write
-- Running workers: not affected
-- Locks:   project_rules for a moment, nothing is rewritten

ALTER TABLE mailqueue.project_rules
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT project_rules_kind_check,
    ADD CONSTRAINT project_rules_kind_check
        CHECK (kind IN ('sender_signature', 'tag_trigger', 'inbound_rule', 'contact_property', 'event_definition',
                        'automation', 'tag_description')) NOT VALID;

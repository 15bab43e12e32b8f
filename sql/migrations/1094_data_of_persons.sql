-- 1094_data_of_persons.sql
-- Adds:    exports of what is stored about a person, who asks for it in the preference centre and gets the link by mail
-- Running workers: those of the release before claim such exports again and again, and its API and consoles cannot list
--          exports once there is one: replace them soon
-- Locks:   exports for a moment, nothing is rewritten
-- squawk-ignore-file ban-drop-constraint

ALTER TABLE mailqueue.exports
    DROP CONSTRAINT exports_kind_check,
    ADD CONSTRAINT exports_kind_check
        CHECK (kind IN ('emails', 'events', 'recipients', 'stats', 'suppressions', 'person')) NOT VALID,
    ADD COLUMN email_id uuid;
COMMENT ON COLUMN mailqueue.exports.email_id IS
    'Email whose link leads to the file, to the person who asked for it; NULL: asked for by a user or key.';

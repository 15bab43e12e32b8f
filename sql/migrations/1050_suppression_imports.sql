-- 1050_suppression_imports.sql
-- Adds:    the kind suppressions of imports
-- Running workers: of the release before cannot take lines of suppressions, and try them again
-- Locks:   imports for a moment

-- squawk-ignore ban-drop-function
DROP FUNCTION IF EXISTS mailqueue.open_import(uuid, bigint);
ALTER TABLE mailqueue.imports
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT imports_kind_check,
    ADD CONSTRAINT imports_kind_check CHECK (kind IN ('contacts', 'suppressions')) NOT VALID;

-- 0620_operations_requeue_move.sql
-- Adds:    bulk_operations.to_sender; operations requeue and move, for which functions get parameters
-- Running workers: of the release before carry out new operations too, which the functions do
-- Locks:   bulk_operations for a moment, nothing is rewritten
-- squawk-ignore-file ban-drop-function, ban-drop-constraint

ALTER TABLE mailqueue.bulk_operations
    ADD COLUMN to_sender text,                               -- of a move; NULL: any account
    DROP CONSTRAINT bulk_operations_verb_check,
    ADD CONSTRAINT bulk_operations_verb_check
        CHECK (verb IN ('hold', 'release', 'cancel', 'requeue', 'move')) NOT VALID,
    ADD CONSTRAINT bulk_operations_to_sender_check
        CHECK (to_sender IS NULL OR verb = 'move' AND length(to_sender) <= 200) NOT VALID;

DROP FUNCTION IF EXISTS mailqueue.check_bulk_operation(uuid, text, jsonb, text);
DROP FUNCTION IF EXISTS mailqueue.begin_bulk_operation(uuid, text, jsonb, text, text);
DROP FUNCTION IF EXISTS mailqueue.preview_bulk_operation(uuid, text, jsonb, integer, integer, integer);
DROP FUNCTION IF EXISTS mailqueue.pick_queued(jsonb, timestamptz, text[], uuid, integer, smallint, uuid);
DROP FUNCTION IF EXISTS mailqueue.pick_finished(jsonb, timestamptz, text[], uuid, integer);

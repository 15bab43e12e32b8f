-- 1093_forms_at_the_same_time.sql
-- Adds:    rows on which forms with the same path wait for each other; take_console_action() gets a parameter
-- Running workers: not affected; consoles of the release before go on
-- Locks:   none
-- squawk-ignore-file ban-drop-function

INSERT INTO mailqueue.lock_rows (name) SELECT 'form ' || n FROM generate_series(0, 255) AS n;
DROP FUNCTION IF EXISTS mailqueue.take_console_action(bytea);

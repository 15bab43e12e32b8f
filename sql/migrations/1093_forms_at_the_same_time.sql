-- 1093_forms_at_the_same_time.sql
-- Alters:  take_console_action(), which gets a parameter: forms with the same path take effect one after another
-- Running workers: not affected; consoles of the release before go on
-- Locks:   none
-- squawk-ignore-file ban-drop-function

DROP FUNCTION IF EXISTS mailqueue.take_console_action(bytea);

-- 1091_listed_passkeys.sql
-- Adds:    the number of passkeys to what console_users_listed() returns
-- Running workers: not affected; console and API of the release before go on
-- Locks:   none
-- squawk-ignore-file ban-drop-function

DROP FUNCTION IF EXISTS mailqueue.console_users_listed();

-- 0426_function_names.sql
-- Drops:   functions by their former names
-- Running workers: restart those of earlier versions; until then they send no notices and show no page of a link
-- Locks:   none
-- squawk-ignore-file ban-drop-function

DROP FUNCTION IF EXISTS mailqueue.tell_of_notices();
DROP FUNCTION IF EXISTS mailqueue.tell_of_cause(uuid, text, text, text, mailqueue.notices[]);
DROP FUNCTION IF EXISTS mailqueue.reader_of(uuid, integer);

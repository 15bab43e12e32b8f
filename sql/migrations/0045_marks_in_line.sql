-- 0045_marks_in_line.sql
-- Alters:  send_intents
-- Running workers: go on
-- Locks:   send_intents, SHARE UPDATE EXCLUSIVE for an instant: marks go on

-- A row of more than 2 kB, 80 mails under way, was cut up and written elsewhere with each mark.
ALTER TABLE mailqueue.send_intents SET (toast_tuple_target = 8160);
